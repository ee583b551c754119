import AssayCore
import AssayEngine
import AssayKit

/// One request, with what tools are told of it.
struct Request: Sendable {
    enum Kind: Sendable {
        case call(Call)
        case protected(ProtectedRequest)
    }

    let kind: Kind
    /// The name of the caller whose token it has; nil for a token of nobody.
    var caller: String?
    /// The App Check token that it has.
    var token: Token?
    /// The proxy's request and the backend.
    var proxied: (line: String, backend: String?)?
    /// What its evidence says.
    var evidence: Evidence?

    /// A token that a server has issued.
    struct Token: Sendable {
        let text: String
        let app: String
        /// The resource of the app.
        let resource: String
        let provider: String
        let isLimitedUse: Bool
        /// Whether an earlier request had it.
        var wasShown = false
    }

    /// Evidence of a provider.
    struct Evidence: Sendable {
        let provider: String
        let app: String
        /// The facts as policies and tests write them.
        let facts: [JSONMember]
        let isForLimitedUse: Bool
    }

    init(_ call: Call, caller: String? = nil, token: Token? = nil, proxied: (String, String?)? = nil) {
        kind = .call(call)
        self.caller = caller
        self.token = token
        self.proxied = proxied.map { (line: $0.0, backend: $0.1) }
    }

    init(_ request: ProtectedRequest, token: Token?) {
        kind = .protected(request)
        self.token = token
    }

    var call: Call? { if case .call(let call) = kind { call } else { nil } }
    /// Whether an administrator changes the server's state by it.
    var isChange: Bool { ["updateService", "createResourcePolicy", "createDenyEntry"].contains(call?.method) }
    var protected: ProtectedRequest? { if case .protected(let request) = kind { request } else { nil } }
}

extension Request {
    /// A request with evidence that says some facts.
    init(evidence: Evidence, method: String, resource: String) {
        var members = evidence.facts.map { JSONMember($0.name, Self.field($0)) }
        if evidence.isForLimitedUse { members.append(JSONMember("limitedUse", true)) }
        self.init(Call(method, resource: resource, body: .object(members)))
        self.evidence = evidence
    }

    /// The field of evidence for a fact as policies write it.
    private static func field(_ fact: JSONMember) -> JSON {
        switch (NotaryProvider.facts.first { $0.0.text == fact.name }?.0.type, fact.value) {
        case (.duration?, .string(let text)): .string("\(RandomValues.seconds(text) ?? 0)s")
        case (.integer?, .integer(let number)): .string("\(number)")
        default: fact.value
        }
    }

    /// A proxy's question about a request of its client, which it puts wherever policies may look for it.
    init(verb: String, path: String, backend: String?, token: Token?, text: String?) {
        var members = ["method", "originalMethod", "forwardedMethod"].map { JSONMember($0, .string(verb)) }
        members += ["uri", "originalUri", "forwardedUri"].map { JSONMember($0, .string(path)) }
        if let backend { members.append(JSONMember("backend", .string(backend))) }
        self.init(
            Call("verifyRequest", body: .object(members), token: text.map { .one($0) }), token: token,
            proxied: ("\(verb) \(path)", backend))
    }
}
