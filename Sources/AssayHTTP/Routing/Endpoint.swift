internal import AssayCore

/// The target of a route.
enum Endpoint: Sendable, Hashable {
    /// A method of the kernel or a plugin.
    case method(HTTPRoute)
    /// Whether the process answers.
    case liveness
    /// Whether the kernel can answer calls.
    case readiness
    /// The page of the plugins' health.
    case plugins
    /// The page of metrics.
    case metrics

    enum Audience: Sendable, Hashable {
        /// Verifiers of tokens, which read the key set.
        case verifiers
        /// Any client, mostly to get a token.
        case anyone
        case administrators
        /// Callers with a permission.
        case callers
    }

    /// Whether it is a page that shows what is for operators; the others show strangers no more than a status.
    var hasDetails: Bool {
        switch self {
        case .readiness, .plugins, .metrics: true
        case .liveness, .method: false
        }
    }

    /// Whether it is a page for operators.
    var isPage: Bool {
        switch self {
        case .method: false
        case .liveness, .readiness, .plugins, .metrics: true
        }
    }

    /// Whether it is a method that demands no permission.
    var isForAnyone: Bool {
        switch self {
        case .method(let route): route.audience == .verifiers || route.audience == .anyone
        case .liveness, .readiness, .plugins, .metrics: false
        }
    }
}

/// A method with the rule that leads to it.
final class HTTPRoute: Sendable {
    let name: String
    /// The rule that was matched.
    let rule: HTTPRule
    /// The rule as records have it.
    let text: String
    /// The audience of the method.
    let audience: Endpoint.Audience
    let binding: HTTPBinding
    /// Whether requests bring an App Check token in a header.
    let takesToken: Bool
    /// Whether parameters of the query that the method does not have are refused.
    let refusesUnknownFields: Bool
    /// The fields of the message that are known to be no lists.
    private let singleFields: Set<ExactText>

    init(_ method: MethodDescriptor, _ rule: HTTPRule) {
        name = method.name
        self.rule = rule
        text = rule.description
        audience = Endpoint.Audience(method)
        binding = method.binding
        takesToken = method.takesToken
        refusesUnknownFields = method.refusesUnknownFields
        singleFields = (method.request?.fields ?? []).reduce(into: []) { names, field in
            if case .list = field.kind { return }
            names.insert(ExactText(field.name))
        }
    }

    /// Whether a field of the message has one value at most.
    func isSingle(_ name: String) -> Bool { singleFields.contains(ExactText(name)) }
}

/// Within one table a rule leads to one method, so its text identifies the route.
extension HTTPRoute: Hashable {
    static func == (one: HTTPRoute, other: HTTPRoute) -> Bool {
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
            case (_, nil): .anyone
            case (_, .admin): .administrators
            case (_, _): .callers
            }
    }
}

/// The result of matching a request target.
struct RouteMatch: Sendable, Hashable {
    let endpoint: Endpoint
    /// The value of `{resource=…}`; empty if the template has no such variable.
    @Exact var resource = ""
    /// The values of the other variables: fields of the request message.
    var fields: [Field] = []

    struct Field: Sendable, Hashable {
        @Exact private(set) var name: String
        @Exact private(set) var value: String
    }
}
