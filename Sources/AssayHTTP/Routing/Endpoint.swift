internal import AssayKit

/// What a route leads to.
enum Endpoint: Sendable, Hashable {
    /// A method of the kernel or a plugin.
    case method(String, APIVersion, isKeySet: Bool)
    /// Whether the process serves.
    case liveness
    /// Whether the kernel can answer calls.
    case readiness
    /// The page of metrics.
    case metrics
}
