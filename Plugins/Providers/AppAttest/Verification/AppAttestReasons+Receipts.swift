public import AssayKit

extension AppAttestReasons {
    public static let receiptMalformed = Reason(
        "receipt_malformed", "The receipt is not a signed message of the expected form.")
    public static let receiptAlgorithmUnsupported = Reason(
        "receipt_algorithm_unsupported", "The receipt is signed with other algorithms than Apple uses.")
    public static let receiptSignerCount = Reason(
        "receipt_signer_count", "The receipt does not have exactly one signer.")
    public static let receiptAttributesMalformed = Reason(
        "receipt_attributes_malformed", "The signed attributes of the receipt have another form than they must.")
    public static let receiptCertificateCount = Reason(
        "receipt_certificate_count", "The receipt does not have exactly three certificates.")
    public static let receiptCertificateMalformed = Reason(
        "receipt_certificate_malformed", "A certificate in the receipt has another form than it must.")
    public static let receiptRootUnknown = Reason("receipt_root_unknown", "The receipt does not carry Apple's root.")
    public static let receiptSignerUnknown = Reason(
        "receipt_signer_unknown", "The receipt does not carry its signer's certificate.")
    public static let receiptSignerUnfit = Reason(
        "receipt_signer_unfit", "The receipt's signer is not one of App Attest receipts.")
    public static let receiptChainInvalid = Reason(
        "receipt_chain_invalid", "The receipt's signer is not certified under Apple's root.")
    public static let receiptSignatureInvalid = Reason(
        "receipt_signature_invalid", "The receipt was not signed by its signer.")
    public static let receiptLegacyNotAllowed = Reason(
        "receipt_legacy_not_allowed", "The receipt has the faulty signature of 2020, which is not allowed here.")
    public static let receiptFieldMalformed = Reason(
        "receipt_field_malformed", "A field of the receipt has another form than it must.")
    public static let receiptFieldMissing = Reason("receipt_field_missing", "The receipt lacks a field.")
    public static let receiptFieldDuplicated = Reason("receipt_field_duplicated", "The receipt has a field twice.")
    public static let receiptTypeUnexpected = Reason(
        "receipt_type_unexpected", "The receipt is of another type than it must be here.")
    public static let receiptRiskMetricMalformed = Reason(
        "receipt_risk_metric_malformed", "The risk metric of the receipt is not a number.")
    public static let receiptAppIDMismatch = Reason("receipt_app_id_mismatch", "The receipt is for another App ID.")
    public static let receiptKeyMismatch = Reason("receipt_key_mismatch", "The receipt is for another key.")
    public static let receiptClientDataHashMismatch = Reason(
        "receipt_client_data_hash_mismatch", "The receipt is for other client data.")
    public static let receiptEnvironmentMismatch = Reason(
        "receipt_environment_mismatch", "The receipt is from another App Attest environment than the key.")
    public static let receiptFromFuture = Reason("receipt_from_future", "The receipt was made in the future.")
    public static let receiptTooOld = Reason("receipt_too_old", "The receipt is older than it may be here.")
    public static let receiptExpired = Reason("receipt_expired", "The receipt has expired.")
    public static let receiptOutsideLeafValidity = Reason(
        "receipt_outside_leaf_validity", "The receipt was not made within the validity of the leaf.")

    static let receipts: [Reason] = [
        receiptMalformed, receiptAlgorithmUnsupported, receiptSignerCount, receiptAttributesMalformed,
        receiptCertificateCount, receiptCertificateMalformed, receiptRootUnknown, receiptSignerUnknown,
        receiptSignerUnfit, receiptChainInvalid, receiptSignatureInvalid, receiptLegacyNotAllowed,
        receiptFieldMalformed, receiptFieldMissing, receiptFieldDuplicated, receiptTypeUnexpected,
        receiptRiskMetricMalformed, receiptAppIDMismatch, receiptKeyMismatch, receiptClientDataHashMismatch,
        receiptEnvironmentMismatch, receiptFromFuture, receiptTooOld, receiptExpired, receiptOutsideLeafValidity,
    ]
}
