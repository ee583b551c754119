public import AssayKit

extension AppAttestReasons {
    public static let evidenceTooLarge = Reason(
        "evidence_too_large", "The evidence has more bytes than any that Apple makes.")
    public static let cborMalformed = Reason("cbor_malformed", "The evidence is not CBOR.")
    public static let cborTruncated = Reason("cbor_truncated", "A CBOR item ends behind the evidence.")
    public static let cborTrailingBytes = Reason("cbor_trailing_bytes", "Bytes follow the CBOR item.")
    public static let cborDuplicateKey = Reason("cbor_duplicate_key", "A CBOR map has a key twice.")
    public static let cborNotDeterministic = Reason(
        "cbor_not_deterministic", "A CBOR length or number is indefinite, or longer than it needs.")
    public static let cborLimitExceeded = Reason(
        "cbor_limit_exceeded", "CBOR items are nested too deep, or too many, or too long.")
    public static let cborUnknownKey = Reason("cbor_unknown_key", "A CBOR map has a key that must not be there.")
    public static let cborTypeUnexpected = Reason("cbor_type_unexpected", "A CBOR item has another type than it must.")
    public static let formatMissing = Reason("format_missing", "The attestation object names no format.")
    public static let formatUnknown = Reason(
        "format_unknown", "The attestation object has another format than apple-appattest.")
    public static let statementMissing = Reason("statement_missing", "The attestation object has no statement.")
    public static let certificatesMissing = Reason("x5c_missing", "The attestation statement has no certificates.")
    public static let certificateCount = Reason(
        "x5c_count", "The attestation statement does not have exactly two certificates.")
    public static let receiptMissing = Reason("receipt_missing", "The attestation statement has no receipt.")
    public static let authenticatorDataMissing = Reason(
        "authenticator_data_missing", "The evidence has no authenticator data.")
    public static let assertionSignatureMissing = Reason(
        "assertion_signature_missing", "The assertion has no signature.")

    static let encoding: [Reason] = [
        evidenceTooLarge, cborMalformed, cborTruncated, cborTrailingBytes, cborDuplicateKey, cborNotDeterministic,
        cborLimitExceeded, cborUnknownKey, cborTypeUnexpected, formatMissing, formatUnknown, statementMissing,
        certificatesMissing, certificateCount, receiptMissing, authenticatorDataMissing, assertionSignatureMissing,
    ]
}
