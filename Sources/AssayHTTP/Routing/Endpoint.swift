internal import AssayKit

/// What a route leads to.
enum Endpoint: Sendable, Hashable {
    /// A method of the kernel or a plugin, the rule that it was found by, and whether it demands no permission.
    case method(String, HTTPRule, isKeySet: Bool, isForAnybody: Bool)
    /// Whether the process serves.
    case liveness
    /// Whether the kernel can answer calls.
    case readiness
    /// The page of metrics.
    case metrics
}

/// What a request target turned out to ask for.
struct RouteMatch: Sendable, Hashable {
    let endpoint: Endpoint
    /// What `{resource=…}` matched; empty where the template has no such variable.
    var resource = ""
    /// What the other variables matched: fields of the request message.
    var fields: [Field] = []

    struct Field: Sendable, Hashable {
        let name: String
        let value: String
    }
}
