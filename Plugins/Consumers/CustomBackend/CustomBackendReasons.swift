public import AssayKit

/// Why requests to a backend are refused whose tokens may be good.
public enum CustomBackendReasons {
    public static let targetMissing = Reason(
        "backend_target_missing",
        "The proxy did not say what its client asked for, on which the policy's routes depend.")
    public static let targetAmbiguous = Reason(
        "backend_target_ambiguous",
        "What the client asked for can be read in several ways, and the policy's routes depend on it.")

    public static let all = [targetMissing, targetAmbiguous]
}
