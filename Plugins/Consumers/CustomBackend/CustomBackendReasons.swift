public import AssayCore

/// Why requests to a backend are refused whose tokens may be good.
public enum CustomBackendReasons {
    /// The proxy did not send its client's request, which the policy's routes need.
    public static let targetMissing = Reason(
        "backend_target_missing",
        "The proxy did not send its client's request, which the policy's routes need.",
        advice: """
            Let the proxy send the original method and URI in the headers that the backend's `original_request` names: \
            `X-Original-Method` and `X-Original-URI` by `x-original`, `X-Forwarded-Method` and `X-Forwarded-Uri` by \
            `x-forwarded`. See the configurations in *Protect a backend*.
            """)
    /// The client's request can be read in several ways, and the policy's routes depend on it.
    public static let targetAmbiguous = Reason(
        "backend_target_ambiguous",
        "The client's request can be read in several ways, and the policy's routes depend on it.",
        advice: """
            A single case is an attempt to get past the routes with an odd path. If your clients send such paths, \
            let the proxy normalise them before it asks.
            """)

    /// All of them.
    public static let all = [targetMissing, targetAmbiguous]
}

extension FactName {
    /// `verified` where the token's device has proved the request.
    public static let requestProof: FactName = "request_proof"
    /// The identifier of the device's key that proved it, as App Attest has it.
    public static let requestKey: FactName = "request_key"
}
