/// What a method looks like from outside: what transports route by, and `assay methods` prints.
public struct MethodDescriptor: Sendable, Hashable {
    /// What a method does.
    public enum Kind: Sendable, Hashable {
        /// Hands out a challenge.
        case challenge
        /// Exchanges evidence for a token.
        case exchange(TokenReply)
        /// Publishes the keys that verify tokens.
        case keySet
        /// Does something else, for callers that have a permission; nil for anybody. What a `GET` replies to callers with
        /// `admin` may be compressed, and must hold no secret.
        case call(Permission?)
        /// Is a method of Google's service that this program has not: it says so, to callers that would be allowed.
        case notOffered(Permission?)
    }

    /// How the reply of an exchange holds the token.
    public enum TokenReply: Sendable, Hashable {
        /// The reply is the token: `{"token", "ttl"}`.
        case alone
        /// The token stands under `appCheckToken`, beside fields of the provider.
        case enclosed
    }

    /// The name: `exchangeDebugToken`; for challenges and exchanges also the custom verb of the HTTP rules.
    @Exact public private(set) var name: String
    public let kind: Kind
    /// The kinds of resources that it is called on; empty when it has none.
    public let resources: Set<ResourceKind>
    /// How the method is called over HTTP, in every version of the API that has it.
    public let rules: [HTTPRule]
    /// Whether requests bring an App Check token beside their message.
    public var takesToken = false
    /// How it is spoken over HTTP.
    public var binding = HTTPBinding.standard
    /// Whether a caller may choose the `jti` of a limited-use token.
    public var takesTokenID = false
    /// What it reads, beside what the kernel reads of every exchange; nil when it does not say.
    public var request: MessageShape?
    /// What it replies: beside the token, for an exchange whose token is enclosed. Nil when it does not say.
    public var reply: MessageShape?

    /// A method under its custom verb, `POST {resource=projects/*/apps/*}:exchangeDebugToken`; a key set under its name.
    public init(name: String, kind: Kind, resources: Set<ResourceKind>) {
        if kind == .keySet {
            let rules = APIVersion.allCases.map { HTTPRule(.get, "/\($0.rawValue)/\(name)", version: $0) }
            self.init(name: name, kind: kind, resources: resources, rules: rules)
        } else {
            self.init(name: name, kind: kind, resources: resources, path: MethodPath(.post, ":\(name)"))
        }
    }

    /// A method with a path of its own under its resources.
    public init(name: String, kind: Kind, resources: Set<ResourceKind>, path: MethodPath) {
        self.init(name: name, kind: kind, resources: resources, rules: path.rules(for: resources))
    }

    /// A method with rules of its own.
    public init(name: String, kind: Kind, resources: Set<ResourceKind>, rules: [HTTPRule]) {
        self.name = name
        self.kind = kind
        self.resources = resources
        self.rules = rules
    }

    /// The same method with what it reads and replies.
    public func with(request: MessageShape?, reply: MessageShape?) -> MethodDescriptor {
        var descriptor = self
        descriptor.request = request
        descriptor.reply = reply
        return descriptor
    }

    /// What a caller must be allowed to do; nil when anybody may call.
    public var permission: Permission? {
        switch kind {
        case .call(let permission), .notOffered(let permission): permission
        case .challenge, .exchange, .keySet: nil
        }
    }
}

/// The versions of the App Check API.
public enum APIVersion: String, Sendable, Hashable, CaseIterable {
    case v1
    case v1beta
}
