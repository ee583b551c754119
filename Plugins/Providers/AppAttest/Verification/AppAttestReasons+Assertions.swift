public import AssayKit

extension AppAttestReasons {
    public static let assertionSignatureInvalid = Reason(
        "assertion_signature_invalid", "The assertion was not signed with the attested key over this client data.")
    public static let assertionKeyInvalid = Reason(
        "assertion_key_invalid", "The stored public key is not a point of P-256.")
    public static let counterNotAdvanced = Reason(
        "counter_not_advanced", "The counter of the assertion is not above the last one.")

    static let assertions: [Reason] = [
        assertionSignatureInvalid, assertionKeyInvalid, counterNotAdvanced,
    ]
}
