/// A method as clients see it: transports route by it, and `assay methods` prints it.
public struct MethodDescriptor: Sendable, Hashable {
    /// What a method does.
    @nonexhaustive public enum Kind: Sendable, Hashable {
        /// Issues a challenge.
        case challenge
        /// Exchanges evidence for a token.
        case exchange(TokenReply)
        /// Publishes what verifiers of tokens read: the key set, or where it is. Replies may be cached.
        case keySet
        /// Any other method, for callers that have a permission; nil for every caller. A response to `GET` with `admin`
        /// may be compressed, and must hold no secret.
        case call(Permission?)
        /// A method of Google's service that is not implemented here; callers with the permission are told so.
        case notOffered(Permission?)
        /// A method of the settings of a provider that is not implemented here, with the last part of their name, such as
        /// `recaptchaV3Config`, and what they are for an app that does not use the provider. They can be read, by callers with
        /// the permission `admin`, and not changed.
        case unset(resource: ExactText, standard: JSON)
    }

    /// How the reply of an exchange holds the token.
    @nonexhaustive public enum TokenReply: Sendable, Hashable {
        /// The reply is the token: `{"token", "ttl"}`.
        case alone
        /// The token is the field `appCheckToken`, next to the provider's fields.
        case enclosed
    }

    /// How the reply of a challenge writes its bytes.
    @nonexhaustive public enum ChallengeText: Sendable, Hashable {
        /// In standard Base 64 with padding.
        case base64
        /// In the URL-safe alphabet without padding: 71 characters, for systems that take the text itself into their evidence.
        case base64URL
    }

    /// The name: `exchangeDebugToken`; for challenges and exchanges also the custom verb of the HTTP rules.
    @Exact public private(set) var name: String
    /// What the method does.
    public let kind: Kind
    /// The kinds of resources that it is called on; empty when it has none.
    public let resources: Set<ResourceKind>
    /// How the method is called over HTTP, in every version of the API that has it.
    public let rules: [HTTPRule]
    /// Whether requests carry an App Check token in addition to their message.
    public var takesToken = false
    /// The form of the method over HTTP.
    public var binding = HTTPBinding.standard
    /// Whether a caller may choose the `jti` of a limited-use token.
    public var takesTokenID = false
    /// How a method that issues a challenge writes it.
    public var challengeText = ChallengeText.base64
    /// Whether the challenge of an exchange is in its evidence, and not a field of the request.
    public var findsChallenge = false
    /// The request's fields, without those that the kernel reads of every exchange; nil when not described.
    ///
    /// The variables of paths in ``rules`` are fields of a `Call`'s body, too, and may be missing here: of the kernel's methods `denyEntryId`
    /// (`deleteDenyEntry`), `decisionId` (`getDecision`), `serviceId` (`getService`, `updateService`) and `resourcePolicyId`. `{resource=…}` is the resource of the `Call`.
    public var request: MessageShape?
    /// The reply's fields, without the token for an exchange whose token is enclosed; nil when not described.
    public var reply: MessageShape?

    /// A method under its custom verb, `POST {resource=projects/*/apps/*}:exchangeDebugToken`; a key set under its
    /// name.
    public init(name: String, kind: Kind, resources: Set<ResourceKind>) {
        if kind == .keySet {
            let rules = APIVersion.allCases.map { HTTPRule(.get, "/\($0.rawValue)/\(name)", version: $0) }
            self.init(name: name, kind: kind, resources: resources, rules: rules)
        } else {
            self.init(name: name, kind: kind, resources: resources, path: MethodPath(.post, ":\(name)"))
        }
    }

    /// A method with its own path under its resources.
    public init(name: String, kind: Kind, resources: Set<ResourceKind>, path: MethodPath) {
        self.init(name: name, kind: kind, resources: resources, rules: path.rules(for: resources))
    }

    /// A method with its own rules.
    public init(name: String, kind: Kind, resources: Set<ResourceKind>, rules: [HTTPRule]) {
        self.name = name
        self.kind = kind
        self.resources = resources
        self.rules = rules
    }

    /// The same method with descriptions of its request and reply.
    public func with(request: MessageShape?, reply: MessageShape?) -> MethodDescriptor {
        var descriptor = self
        descriptor.request = request
        descriptor.reply = reply
        return descriptor
    }

    /// Whether requests with fields that the method does not have are refused, as the shape of the request says.
    package var refusesUnknownFields: Bool { request?.refusesUnknownFields ?? false }

    /// The permission that a caller needs; nil when every caller may call.
    public var permission: Permission? {
        switch kind {
        case .call(let permission), .notOffered(let permission): permission
        case .unset: .admin
        case .challenge, .exchange, .keySet: nil
        }
    }
}
