public import AssayKit

extension AppAttestReasons {
    public static let artifactInvalid = Reason(
        "artifact_invalid", "The artifact was not sealed here, or not for this app.")
    public static let artifactRootUntrusted = Reason(
        "artifact_root_untrusted", "The artifact's key was attested under another root than the policy trusts.")
    public static let validationCategoryNotAllowed = Reason(
        "validation_category_not_allowed", "The system came to trust the app in a way that the policy does not allow.")
    public static let validationCategoryUnreported = Reason(
        "validation_category_unreported", "The device does not report how it came to trust the app, as it must here.")
    public static let riskMetricTooHigh = Reason(
        "risk_metric_too_high", "The app attested more keys on the device, by Apple's count, than the policy allows.")
    public static let riskMetricUnknown = Reason(
        "risk_metric_unknown", "The risk metric of the key is not known, as it must be here.")

    static let policy: [Reason] = [
        artifactInvalid, artifactRootUntrusted, validationCategoryNotAllowed, validationCategoryUnreported,
        riskMetricTooHigh, riskMetricUnknown,
    ]
}
