public import AssayCore

/// Every reason for which App Attest evidence is refused; each is one check that failed.
public enum AppAttestReasons {
    /// All reasons, as the provider's descriptor lists them.
    public static let all: [Reason] =
        encoding + authenticatorData + certificates + assertions + receipts + policy
}

/// A refusal of evidence: the reason, and what exactly was found.
public struct AppAttestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which check failed.
    public let reason: Reason
    /// What was found, for an operator; no secret.
    @Exact public private(set) var detail: String?

    init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    /// The code of the reason, followed by the detail.
    public var description: String {
        detail.map { "\(reason.code): \($0)" } ?? reason.code
    }
}

extension AppAttestReasons {
    /// The artifact was not sealed by this service, or not for this app.
    public static let artifactInvalid = Reason(
        "artifact_invalid", "The artifact was not sealed by this service, or not for this app.",
        advice: """
            If the record says that a key was revoked, its clients must attest again: do not bring that key back. \
            Otherwise, if all clients fail, the key folder was replaced or lost: restore it from its backup, since \
            clients cannot recover on their own. Also check that the client sends the artifact of this app and project, \
            unchanged.
            """)
    /// The artifact's key was attested under another root than the policy trusts.
    public static let artifactRootUntrusted = Reason(
        "artifact_root_untrusted", "The artifact's key was attested under another root than the policy trusts.",
        advice: """
            `trust_anchor` was changed since the key was attested. Devices attested under the old root must attest \
            again: delete the app's data, or install it again.
            """)
    /// The policy does not allow the validation category that the device reports for the app.
    public static let validationCategoryNotAllowed = Reason(
        "validation_category_not_allowed",
        "The policy does not allow the validation category that the device reports for the app.",
        advice: """
            Add the category to `validation_categories` if such installations should be accepted; the record has it. \
            Otherwise the refusal follows the policy.
            """)
    /// The policy requires a validation category, and the device reports none.
    public static let validationCategoryUnreported = Reason(
        "validation_category_unreported", "The policy requires a validation category, and the device reports none.",
        advice: """
            The device's system is older than iOS 27 or macOS 27. Set `unreported_validation_category: allowed`, or \
            ask the user to update.
            """)
    /// By Apple's count, the app attested more keys on the device than the policy allows.
    public static let riskMetricTooHigh = Reason(
        "risk_metric_too_high", "By Apple's count, the app attested more keys on the device than the policy allows.",
        advice: """
            Look at the record's `key_id` and the metric. Sold, restored and shared devices have higher ones; raise \
            `risk_metric.refuse_above` if genuine users are refused. Otherwise one device makes keys for many.
            """)
    /// The policy requires the risk metric of the key, which is unknown.
    public static let riskMetricUnknown = Reason(
        "risk_metric_unknown", "The policy requires the risk metric of the key, which is unknown.",
        advice: """
            Check in the log that receipts are exchanged (maintenance, `upkeep_runs_total`) and that `key_id` and \
            `private_key` of `risk_metric` are valid. Set `unknown: allowed` if keys from before the section should be \
            accepted.
            """)

    static let policy: [Reason] = [
        artifactInvalid, artifactRootUntrusted, validationCategoryNotAllowed, validationCategoryUnreported,
        riskMetricTooHigh, riskMetricUnknown,
    ]
}

extension AppAttestReasons {
    /// The assertion was not signed with the attested key over this client data.
    public static let assertionSignatureInvalid = Reason(
        "assertion_signature_invalid", "The assertion was not signed with the attested key over this client data.",
        advice: """
            Check what the client hashes: `clientDataHash` of `generateAssertion` must be of the challenge and the \
            artifact as App Check's SDK combines them. If a few devices fail, their key does not belong to their \
            artifact: let them attest again.
            """)
    /// The stored public key is not a point of P-256.
    public static let assertionKeyInvalid = Reason(
        "assertion_key_invalid", "The stored public key is not a point of P-256.",
        advice: """
            The artifact holds no usable key, which no version of Assay has written: keep the record, and report it \
            as a fault.
            """)
    /// The counter of the assertion is not above the previous one.
    public static let counterNotAdvanced = Reason(
        "counter_not_advanced", "The counter of the assertion is not above the previous one.",
        advice: """
            Two requests with one counter came: a client that sends one assertion twice, or a copy of the key (a \
            cloned device). A client that continues gets through with its next assertion. Look whether one `key_id` \
            does it again and again.
            """)

    static let assertions: [Reason] = [
        assertionSignatureInvalid, assertionKeyInvalid, counterNotAdvanced,
    ]
}
