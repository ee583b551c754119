public import AssayCore

extension AppAttestReasons {
    /// The leaf is not a certificate of the expected form.
    public static let certificateMalformed = Reason(
        "certificate_malformed", "The leaf is not a certificate of the expected form.",
        advice: """
            The evidence was altered, or Apple changed its certificates. If all devices fail, verify a kept sample \
            with `assay verify app-attest --explain` and update Assay.
            """)
    /// The intermediate is not a certificate of the expected form.
    public static let intermediateMalformed = Reason(
        "intermediate_malformed", "The intermediate is not a certificate of the expected form.",
        advice: """
            The evidence was altered, or Apple changed its certificates. If all devices fail, verify a kept sample \
            with `assay verify app-attest --explain` and update Assay.
            """)
    /// The leaf is a certification authority's certificate.
    public static let leafIsAuthority = Reason(
        "leaf_is_ca", "The leaf is a certification authority's certificate.",
        advice: """
            An authority's certificate was sent instead of a device's: an attack. Nothing needs to be done.
            """)
    /// The certified key is not on P-256.
    public static let leafCurveUnsupported = Reason(
        "leaf_curve_unsupported", "The certified key is not on P-256.",
        advice: "No Apple device has such a key. If all devices of a new system release fail, update Assay.")
    /// The certified key is not an uncompressed point of its curve.
    public static let leafPointInvalid = Reason(
        "leaf_point_invalid", "The certified key is not an uncompressed point of its curve.",
        advice: "No Apple device has such a key: an attack. Nothing needs to be done.")
    /// The extended key usage of the leaf is not App Attest's.
    public static let extendedKeyUsageUnexpected = Reason(
        "eku_unexpected", "The extended key usage of the leaf is not App Attest's.",
        advice: """
            A certificate of Apple's was sent that is not for App Attest: an attack. If all devices fail, update \
            Assay.
            """)
    /// The leaf has no nonce.
    public static let nonceExtensionMissing = Reason(
        "nonce_extension_missing", "The leaf has no nonce.",
        advice: """
            A certificate of Apple's was sent that is not for App Attest: an attack. If all devices fail, update \
            Assay.
            """)
    /// The leaf has two nonces.
    public static let nonceExtensionDuplicated = Reason(
        "nonce_extension_duplicated", "The leaf has two nonces.",
        advice: "The certificate was not made by Apple. Nothing needs to be done.")
    /// The nonce of the leaf does not have the required form.
    public static let nonceExtensionMalformed = Reason(
        "nonce_extension_malformed", "The nonce of the leaf does not have the required form.",
        advice: """
            The certificate was not made by Apple, or Apple changed its form. If all devices fail, update Assay.
            """)
    /// The key was certified for other authenticator data or another challenge.
    public static let nonceMismatch = Reason(
        "nonce_mismatch", "The key was certified for other authenticator data or another challenge.",
        advice: """
            Check what the client hashes: `clientDataHash` of `attestKey` is the SHA-256 of the challenge's bytes as \
            the server gave them, decoded from Base64. Old attestations that are sent again fail like this.
            """)
    /// The leaf's description of the operating system does not have Apple's form.
    public static let systemExtensionMalformed = Reason(
        "system_extension_malformed", "The leaf's description of the operating system does not have Apple's form.",
        advice: """
            If all devices of a new system release fail, verify a kept sample with `assay verify app-attest \
            --explain` and update Assay.
            """)
    /// The key of a Mac does not have the required access-control policy.
    public static let macPolicyMismatch = Reason(
        "macos_policy_mismatch", "The key of a Mac does not have the required access-control policy.",
        advice: """
            The Mac's key can be used without the protections that Apple prescribes: the Mac runs with reduced \
            security, or the evidence was altered.
            """)
    /// The key identifier is not the digest of the certified key.
    public static let keyIdentifierMismatch = Reason(
        "key_identifier_mismatch", "The key identifier is not the digest of the certified key.",
        advice: """
            The client named another key than the certified one. Check that it sends the `keyId` that `generateKey` \
            gave for this attestation.
            """)
    /// The leaf's issuer is not the intermediate.
    public static let leafNotByIntermediate = Reason(
        "leaf_not_by_intermediate", "The leaf's issuer is not the intermediate.",
        advice: "The chain was put together from two attestations: it is an attack. Nothing needs to be done.")
    /// The leaf was not signed by the intermediate.
    public static let leafSignatureInvalid = Reason(
        "leaf_signature_invalid", "The leaf was not signed by the intermediate.",
        advice: "The certificate was altered or forged: an attack. Nothing needs to be done.")
    /// The leaf is not valid yet.
    public static let leafNotYetValid = Reason(
        "leaf_not_yet_valid", "The leaf is not valid yet.",
        advice: "Correct the clock of this server: Apple certifies keys with validity from a moment ago.")
    /// The leaf has expired.
    public static let leafExpired = Reason(
        "leaf_expired", "The leaf has expired.",
        advice: """
            An old attestation was sent again; each is valid for a few days and one challenge. If new devices fail, \
            correct the clock of this server. To verify kept evidence, give its time with `--at`.
            """)
    /// The intermediate's issuer is not the App Attest root.
    public static let chainUntrusted = Reason(
        "chain_untrusted", "The intermediate's issuer is not the App Attest root.",
        advice: """
            The evidence is not of an Apple device: a simulator, or another authority. On a test system with \
            simulated devices, set `trust_anchor`.
            """)
    /// The intermediate was not signed by the App Attest root.
    public static let intermediateNotByRoot = Reason(
        "intermediate_not_by_root", "The intermediate was not signed by the App Attest root.",
        advice: """
            The chain was forged: an attack. With a `trust_anchor`, check that it is the root that certified the \
            intermediate.
            """)
    /// The intermediate may not certify the leaf.
    public static let intermediateNotAuthority = Reason(
        "intermediate_not_ca", "The intermediate may not certify the leaf.",
        advice: """
            The chain was forged: an attack. With a simulated authority, give its intermediate `CA:TRUE` and the key \
            usage `keyCertSign`.
            """)
    /// The intermediate is not valid yet.
    public static let intermediateNotYetValid = Reason(
        "intermediate_not_yet_valid", "The intermediate is not valid yet.",
        advice: "Correct the clock of this server.")
    /// The intermediate has expired.
    public static let intermediateExpired = Reason(
        "intermediate_expired", "The intermediate has expired.",
        advice: "Correct the clock of this server. To verify kept evidence, give its time with `--at`.")
    /// The App Attest root is not valid yet or has expired.
    public static let rootNotValid = Reason(
        "root_not_valid", "The App Attest root is not valid yet or has expired.",
        advice: "Correct the clock of this server. With a `trust_anchor` of your own, make a new one.")
    /// A certificate has a critical extension that is not supported.
    public static let criticalExtensionUnknown = Reason(
        "critical_extension_unknown", "A certificate has a critical extension that is not supported.",
        advice: """
            The record's `detail` has the extension. If all devices of a new system release fail, update Assay; a \
            simulated authority must leave the extension out.
            """)

    static let certificates: [Reason] = [
        certificateMalformed, intermediateMalformed, leafIsAuthority, leafCurveUnsupported, leafPointInvalid,
        extendedKeyUsageUnexpected, nonceExtensionMissing, nonceExtensionDuplicated, nonceExtensionMalformed,
        nonceMismatch, systemExtensionMalformed, macPolicyMismatch, keyIdentifierMismatch, leafNotByIntermediate,
        leafSignatureInvalid, leafNotYetValid, leafExpired, chainUntrusted, intermediateNotByRoot,
        intermediateNotAuthority, intermediateNotYetValid, intermediateExpired, rootNotValid,
        criticalExtensionUnknown,
    ]
}
