public import AssayKit

extension AppAttestReasons {
    public static let certificateMalformed = Reason(
        "certificate_malformed", "The leaf is not a certificate of the expected form.")
    public static let intermediateMalformed = Reason(
        "intermediate_malformed", "The intermediate is not a certificate of the expected form.")
    public static let leafIsAuthority = Reason("leaf_is_ca", "The leaf is a certification authority's certificate.")
    public static let leafCurveUnsupported = Reason("leaf_curve_unsupported", "The certified key is not on P-256.")
    public static let leafPointInvalid = Reason(
        "leaf_point_invalid", "The certified key is not an uncompressed point of its curve.")
    public static let extendedKeyUsageUnexpected = Reason(
        "eku_unexpected", "The leaf is for other purposes than App Attest.")
    public static let nonceExtensionMissing = Reason("nonce_extension_missing", "The leaf has no nonce.")
    public static let nonceExtensionDuplicated = Reason("nonce_extension_duplicated", "The leaf has two nonces.")
    public static let nonceExtensionMalformed = Reason(
        "nonce_extension_malformed", "The nonce of the leaf has another form than it must.")
    public static let nonceMismatch = Reason(
        "nonce_mismatch", "The key was certified for other authenticator data or another challenge.")
    public static let systemExtensionMalformed = Reason(
        "system_extension_malformed", "The leaf describes the operating system in another form than Apple does.")
    public static let macPolicyMismatch = Reason(
        "macos_policy_mismatch", "The key of a Mac has another access-control policy than it must.")
    public static let keyIdentifierMismatch = Reason(
        "key_identifier_mismatch", "The key identifier is not the digest of the certified key.")
    public static let leafNotByIntermediate = Reason(
        "leaf_not_by_intermediate", "The leaf names another issuer than the intermediate.")
    public static let leafSignatureInvalid = Reason(
        "leaf_signature_invalid", "The leaf was not signed by the intermediate.")
    public static let leafNotYetValid = Reason("leaf_not_yet_valid", "The validity of the leaf has not begun.")
    public static let leafExpired = Reason("leaf_expired", "The validity of the leaf is over.")
    public static let chainUntrusted = Reason(
        "chain_untrusted", "The intermediate names another issuer than the App Attest root.")
    public static let intermediateNotByRoot = Reason(
        "intermediate_not_by_root", "The intermediate was not signed by the App Attest root.")
    public static let intermediateNotAuthority = Reason(
        "intermediate_not_ca", "The intermediate may not certify the leaf.")
    public static let intermediateNotYetValid = Reason(
        "intermediate_not_yet_valid", "The validity of the intermediate has not begun.")
    public static let intermediateExpired = Reason("intermediate_expired", "The validity of the intermediate is over.")
    public static let rootNotValid = Reason(
        "root_not_valid", "The validity of the App Attest root has not begun or is over.")
    public static let criticalExtensionUnknown = Reason(
        "critical_extension_unknown", "A certificate has a critical extension that is not judged here.")

    static let certificates: [Reason] = [
        certificateMalformed, intermediateMalformed, leafIsAuthority, leafCurveUnsupported, leafPointInvalid,
        extendedKeyUsageUnexpected, nonceExtensionMissing, nonceExtensionDuplicated, nonceExtensionMalformed,
        nonceMismatch, systemExtensionMalformed, macPolicyMismatch, keyIdentifierMismatch, leafNotByIntermediate,
        leafSignatureInvalid, leafNotYetValid, leafExpired, chainUntrusted, intermediateNotByRoot,
        intermediateNotAuthority, intermediateNotYetValid, intermediateExpired, rootNotValid,
        criticalExtensionUnknown,
    ]
}
