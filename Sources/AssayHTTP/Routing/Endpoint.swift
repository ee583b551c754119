internal import AssayCore
internal import AssayKit

/// What a route leads to.
enum Endpoint: Sendable, Hashable {
    /// A method of the kernel or a plugin.
    case method(MethodRoute)
    /// Whether the process serves.
    case liveness
    /// Whether the kernel can answer calls.
    case readiness
    /// The page of metrics.
    case metrics

    enum Audience: Sendable, Hashable {
        /// Whoever verifies tokens: it is the key set.
        case verifiers
        /// Anybody, mostly clients that want a token.
        case anybody
        case administrators
        /// Others that have a permission.
        case callers
    }

    /// Whether it is a method that demands no permission.
    var isForAnybody: Bool {
        switch self {
        case .method(let route): route.audience == .verifiers || route.audience == .anybody
        case .liveness, .readiness, .metrics: false
        }
    }
}

/// How a method is reached.
final class MethodRoute: Sendable {
    let name: String
    /// The rule that it was found by.
    let rule: HTTPRule
    /// Whom it is for.
    let audience: Endpoint.Audience
    let binding: HTTPBinding
    /// Whether requests bring an App Check token in a header.
    let takesToken: Bool

    init(_ method: MethodDescriptor, _ rule: HTTPRule) {
        name = method.name
        self.rule = rule
        audience = Endpoint.Audience(method)
        binding = method.binding
        takesToken = method.takesToken
    }
}

/// Within one table a rule leads to one method, and by its name all else is known.
extension MethodRoute: Hashable {
    static func == (one: MethodRoute, other: MethodRoute) -> Bool {
        one.name.isExactly(other.name) && one.rule == other.rule
    }

    func hash(into hasher: inout Hasher) {
        name.hashExactly(into: &hasher)
        hasher.combine(rule)
    }
}

extension Endpoint.Audience {
    init(_ method: MethodDescriptor) {
        self =
            switch (method.kind, method.permission) {
            case (.keySet, _): .verifiers
            case (_, nil): .anybody
            case (_, .admin): .administrators
            case (_, _): .callers
            }
    }
}

/// What a request target turned out to ask for.
struct RouteMatch: Sendable, Hashable {
    let endpoint: Endpoint
    /// What `{resource=…}` matched; empty where the template has no such variable.
    @Exact var resource = ""
    /// What the other variables matched: fields of the request message.
    var fields: [Field] = []

    struct Field: Sendable, Hashable {
        @Exact private(set) var name: String
        @Exact private(set) var value: String
    }
}
