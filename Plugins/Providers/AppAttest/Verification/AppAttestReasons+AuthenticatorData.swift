public import AssayKit

extension AppAttestReasons {
    public static let authenticatorDataTruncated = Reason(
        "authenticator_data_truncated", "The authenticator data ends too early.")
    public static let authenticatorDataTrailingBytes = Reason(
        "authenticator_data_trailing_bytes", "Bytes follow the authenticator data.")
    public static let attestedDataMissing = Reason(
        "attested_data_missing", "The authenticator data has no attested credential.")
    public static let credentialIDLength = Reason(
        "credential_id_length", "The credential identifier does not have 32 bytes.")
    public static let credentialIDMismatch = Reason(
        "credential_id_mismatch", "The credential identifier is not the key identifier.")
    public static let coseKeyMalformed = Reason(
        "cose_key_malformed", "The credential key is not an ES256 key on P-256.")
    public static let coseKeyMismatch = Reason("cose_key_mismatch", "The credential key is not the certified key.")
    public static let extensionMapMalformed = Reason(
        "extension_map_malformed",
        "What follows the credential or the counter is not a map of extensions as Apple makes it.")
    public static let appIDMismatch = Reason("app_id_mismatch", "The evidence is for another App ID.")
    public static let counterNotZero = Reason("counter_not_zero", "The counter of the attestation is not zero.")
    public static let aaguidUnknown = Reason("aaguid_unknown", "The authenticator is neither of App Attest's two.")
    public static let environmentNotAllowed = Reason(
        "environment_not_allowed", "The key was made in an App Attest environment that is not allowed.")

    static let authenticatorData: [Reason] = [
        authenticatorDataTruncated, authenticatorDataTrailingBytes, attestedDataMissing, credentialIDLength,
        credentialIDMismatch, coseKeyMalformed, coseKeyMismatch, extensionMapMalformed, appIDMismatch, counterNotZero,
        aaguidUnknown, environmentNotAllowed,
    ]
}
