public import AssayCore

extension AppAttestReasons {
    /// The receipt is not a signed message of the expected form.
    public static let receiptMalformed = Reason(
        "receipt_malformed", "The receipt is not a signed message of the expected form.",
        advice: """
            With `receipts: recorded` the attestation was accepted. If all fail, verify a kept sample with \
            `--explain` and update Assay. Otherwise the client altered the receipt.
            """)
    /// The receipt is signed with other algorithms than Apple uses.
    public static let receiptAlgorithmUnsupported = Reason(
        "receipt_algorithm_unsupported", "The receipt is signed with other algorithms than Apple uses.",
        advice: "Apple may have changed its algorithms: if all fail, set `receipts: recorded`, and update Assay.")
    /// The receipt does not have exactly one signer.
    public static let receiptSignerCount = Reason(
        "receipt_signer_count", "The receipt does not have exactly one signer.",
        advice: "The receipt was altered: Apple makes none like it.")
    /// The signed attributes of the receipt do not have the required form.
    public static let receiptAttributesMalformed = Reason(
        "receipt_attributes_malformed", "The signed attributes of the receipt do not have the required form.",
        advice: """
            The receipt was altered, or Apple changed its form. If all fail, set `receipts: recorded`, and update \
            Assay.
            """)
    /// The receipt does not have exactly three certificates.
    public static let receiptCertificateCount = Reason(
        "receipt_certificate_count", "The receipt does not have exactly three certificates.",
        advice: """
            Apple may have changed the receipt's chain. If all fail, set `receipts: recorded`, and update Assay.
            """)
    /// A certificate in the receipt does not have the required form.
    public static let receiptCertificateMalformed = Reason(
        "receipt_certificate_malformed", "A certificate in the receipt does not have the required form.",
        advice: """
            The receipt was altered, or Apple changed its certificates. If all fail, set `receipts: recorded`, and \
            update Assay.
            """)
    /// The receipt does not contain Apple's root.
    public static let receiptRootUnknown = Reason(
        "receipt_root_unknown", "The receipt does not contain Apple's root.",
        advice: """
            The receipt is not Apple's: a simulator's, or one of another authority. On a test system, set \
            `receipt_trust_anchor`.
            """)
    /// The receipt does not contain its signer's certificate.
    public static let receiptSignerUnknown = Reason(
        "receipt_signer_unknown", "The receipt does not contain its signer's certificate.",
        advice: "The receipt was altered: it names a signer whose certificate it lacks.")
    /// The receipt's signer may not sign App Attest receipts.
    public static let receiptSignerUnfit = Reason(
        "receipt_signer_unfit", "The receipt's signer may not sign App Attest receipts.",
        advice: """
            The receipt was signed with a certificate of Apple's for another purpose: an attack. If all fail, update \
            Assay.
            """)
    /// The receipt's signer is not certified under Apple's root.
    public static let receiptChainInvalid = Reason(
        "receipt_chain_invalid", "The receipt's signer is not certified under Apple's root.",
        advice: "The receipt's chain was forged, or the server's clock is wrong: correct it if all fail.")
    /// The receipt was not signed by its signer.
    public static let receiptSignatureInvalid = Reason(
        "receipt_signature_invalid", "The receipt was not signed by its signer.",
        advice: "The receipt was altered: an attack, or a client that does not send it unchanged.")
    /// The receipt has the faulty signature of 2020, which the policy does not allow.
    public static let receiptLegacyNotAllowed = Reason(
        "receipt_legacy_not_allowed", "The receipt has the faulty signature of 2020, which the policy does not allow.",
        advice: """
            Some receipts of 2020 have this fault. Only evidence from then is refused; verify it without the \
            stricter option.
            """)
    /// A field of the receipt does not have the required form.
    public static let receiptFieldMalformed = Reason(
        "receipt_field_malformed", "A field of the receipt does not have the required form.",
        advice: """
            The record's `detail` names the field. The receipt was altered, or Apple changed its form: if all fail, \
            set `receipts: recorded`, and update Assay.
            """)
    /// A required field of the receipt is missing.
    public static let receiptFieldMissing = Reason(
        "receipt_field_missing", "A required field of the receipt is missing.",
        advice: """
            The record's `detail` names the field. The receipt was altered, or Apple changed its form: if all fail, \
            set `receipts: recorded`, and update Assay.
            """)
    /// The receipt has a field twice.
    public static let receiptFieldDuplicated = Reason(
        "receipt_field_duplicated", "The receipt has a field twice.",
        advice: "The receipt was altered: Apple makes none like it.")
    /// The receipt is not of the expected type.
    public static let receiptTypeUnexpected = Reason(
        "receipt_type_unexpected", "The receipt is not of the expected type.",
        advice: """
            The client sent a receipt of a later exchange with its attestation, or Apple answered an exchange with \
            an old receipt. A single case needs nothing.
            """)
    /// The risk metric of the receipt is not a number.
    public static let receiptRiskMetricMalformed = Reason(
        "receipt_risk_metric_malformed", "The risk metric of the receipt is not a number.",
        advice: "Apple changed the field: update Assay. Until then the key has no risk metric.")
    /// The receipt is for another App ID.
    public static let receiptAppIDMismatch = Reason(
        "receipt_app_id_mismatch", "The receipt is for another App ID.",
        advice: """
            The receipt is of another app than the attestation: an attacker combined them. Nothing needs to be done.
            """)
    /// The receipt is for another key.
    public static let receiptKeyMismatch = Reason(
        "receipt_key_mismatch", "The receipt is for another key.",
        advice: """
            The receipt is of another key than the attestation: an attacker combined them. Nothing needs to be done.
            """)
    /// The receipt is for other client data.
    public static let receiptClientDataHashMismatch = Reason(
        "receipt_client_data_hash_mismatch", "The receipt is for other client data.",
        advice: """
            The receipt is of another attestation of this key: an attacker combined them. Nothing needs to be done.
            """)
    /// The receipt is from another App Attest environment than the key.
    public static let receiptEnvironmentMismatch = Reason(
        "receipt_environment_mismatch", "The receipt is from another App Attest environment than the key.",
        advice: """
            The receipt and the key are from different App Attest environments: an attacker combined them. Nothing \
            needs to be done.
            """)
    /// The receipt was made in the future.
    public static let receiptFromFuture = Reason(
        "receipt_from_future", "The receipt was made in the future.",
        advice: "Correct the clock of this server.")
    /// The receipt is older than the policy allows.
    public static let receiptTooOld = Reason(
        "receipt_too_old", "The receipt is older than the policy allows.",
        advice: "An old attestation was sent again. If new ones are refused, correct the clock of this server.")
    /// The receipt has expired.
    public static let receiptExpired = Reason(
        "receipt_expired", "The receipt has expired.",
        advice: """
            An old attestation was sent again; receipts are valid for 90 days. To verify kept evidence, give its time \
            with `--at`.
            """)
    /// The receipt was not made within the validity of the leaf.
    public static let receiptOutsideLeafValidity = Reason(
        "receipt_outside_leaf_validity", "The receipt was not made within the validity of the leaf.",
        advice: """
            The receipt and the certificate are from different times: an attacker combined them. Nothing needs to be \
            done.
            """)

    static let receipts: [Reason] = [
        receiptMalformed, receiptAlgorithmUnsupported, receiptSignerCount, receiptAttributesMalformed,
        receiptCertificateCount, receiptCertificateMalformed, receiptRootUnknown, receiptSignerUnknown,
        receiptSignerUnfit, receiptChainInvalid, receiptSignatureInvalid, receiptLegacyNotAllowed,
        receiptFieldMalformed, receiptFieldMissing, receiptFieldDuplicated, receiptTypeUnexpected,
        receiptRiskMetricMalformed, receiptAppIDMismatch, receiptKeyMismatch, receiptClientDataHashMismatch,
        receiptEnvironmentMismatch, receiptFromFuture, receiptTooOld, receiptExpired, receiptOutsideLeafValidity,
    ]
}
