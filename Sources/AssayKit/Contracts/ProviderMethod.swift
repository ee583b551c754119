public import AssayCore

/// A method of a provider: what clients call, of one of four kinds.
///
/// - ``challenge(_:resources:text:)``: the kernel makes a challenge, and redeems it when an exchange brings it back;
/// - ``exchange(_:challenge:storesChallenge:findsChallenge:reply:resources:versions:takesTokenID:replyFields:binding:_:)``: evidence in, verdict out; the kernel makes the token;
/// - `call(_:_:permission:resources:reply:_:)`: any other method, such as the management of the provider's data;
/// - ``config(_:_:)``: the resource that shows an app's settings.
public struct ProviderMethod<Provider: AttestationProvider>: Sendable {
    /// What the method looks like from outside.
    public let descriptor: MethodDescriptor
    package let action: Action

    package enum Action: Sendable {
        case challenge
        case exchange(@Sendable (Provider, RequestFields) throws(InvalidRequest) -> PreparedExchange)
        case call(@Sendable (Provider, RequestFields) throws(InvalidRequest) -> PreparedCall)
        case config(ConfigResource<Provider>)
    }

    /// The resource that it declares, for a method of that kind.
    package var config: ConfigResource<Provider>? {
        if case .config(let resource) = action { resource } else { nil }
    }

    /// A method that issues a challenge: an empty request, and `challenge` and `ttl` in reply.
    ///
    /// Challenges are bound to the app and to the provider, valid for five minutes and for one exchange.
    ///
    /// - `text`: how the reply writes the bytes of the challenge.
    public static func challenge(
        _ name: String, resources: Set<ResourceKind> = [.app], text: MethodDescriptor.ChallengeText = .base64
    ) -> ProviderMethod {
        var descriptor = MethodDescriptor(name: name, kind: .challenge, resources: resources)
        descriptor.challengeText = text
        return ProviderMethod(descriptor: descriptor, action: .challenge)
    }

    /// A method that exchanges evidence for a token.
    ///
    /// - `challenge`: the request's challenge, if it has one. The handler sees only challenges that were made for this
    ///   app, are not expired and not used; of several concurrent requests with one challenge, only one gets a token.
    /// - `storesChallenge`: false for evidence that is made for its challenge and that its own uses (`Appraisal.uses`)
    ///   refuse a second time, such as by a counter: to remember the challenge would protect nothing.
    /// - `findsChallenge`: true for evidence whose challenge is known only after it was opened, such as an encrypted token. The
    ///   handler returns it with each appraisal (`Appraisal.challenge`), and the kernel redeems it then; `challenge` is nil.
    /// - `reply`: whether the token is the whole reply, or a part of it next to the provider's own fields.
    /// - `versions`: the versions of the API that have the method.
    /// - `takesTokenID`: whether a caller may choose the `jti` of a limited-use token, in the field `jti` of the
    ///   request: for trusted callers, such as servers. The kernel reads the field.
    /// - `replyFields`: the fields of the reply in addition to the enclosed token.
    /// - `binding`: the form over HTTP, such as a header that carries the evidence.
    /// - `handler`: appraises the evidence; usually a method of the provider, `Self.exchange`.
    public static func exchange<Request: RequestMessage>(
        _ name: String, challenge: (@Sendable (Request) -> [UInt8])? = nil, storesChallenge: Bool = true,
        findsChallenge: Bool = false, reply: MethodDescriptor.TokenReply = .alone,
        resources: Set<ResourceKind> = [.app], versions: [APIVersion] = APIVersion.allCases,
        takesTokenID: Bool = false, replyFields: MessageShape? = nil, binding: HTTPBinding = .standard,
        _ handler: @escaping @Sendable (Provider, Request, ProviderContext) async throws -> Verdict
    ) -> ProviderMethod {
        let path = MethodPath(.post, ":\(name)", versions: versions)
        var descriptor = MethodDescriptor(name: name, kind: .exchange(reply), resources: resources, path: path)
            .with(request: Request.shape, reply: replyFields)
        descriptor.takesTokenID = takesTokenID
        descriptor.findsChallenge = findsChallenge
        descriptor.binding = binding
        return ProviderMethod(
            descriptor: descriptor,
            action: .exchange { (provider, fields) throws(InvalidRequest) in
                let request = try Request(fields)
                return PreparedExchange(
                    challenge: challenge.map { $0(request) }, storesChallenge: storesChallenge,
                    findsChallenge: findsChallenge
                ) { context in
                    try await handler(provider, request, context)
                }
            })
    }

    /// A method that issues neither challenges nor tokens.
    ///
    /// - `path`: the part of the HTTP path after the resource's name.
    /// - `permission`: the permission that a caller needs; the kernel has checked it before the handler runs.
    /// - `reply`: the fields of the reply message.
    /// - `handler`: returns the reply message and the facts for the record. A `CallFailure` that it throws is the
    ///   response; after any other error the client is told that the service is unavailable.
    public static func call<Request: RequestMessage>(
        _ name: String, _ path: MethodPath, permission: Permission = .admin, resources: Set<ResourceKind> = [.app],
        reply: MessageShape? = nil,
        _ handler: @escaping @Sendable (Provider, Request, ProviderContext) async throws -> CallAnswer
    ) -> ProviderMethod {
        let descriptor = MethodDescriptor(name: name, kind: .call(permission), resources: resources, path: path)
            .with(request: Request.shape, reply: reply)
        return ProviderMethod(
            descriptor: descriptor,
            action: .call { (provider, fields) throws(InvalidRequest) in
                let request = try Request(fields)
                return PreparedCall { context in try await handler(provider, request, context) }
            })
    }

    /// A method that issues neither challenges nor tokens, and whose reply is the message alone.
    public static func call<Request: RequestMessage>(
        _ name: String, _ path: MethodPath, permission: Permission = .admin, resources: Set<ResourceKind> = [.app],
        reply: MessageShape? = nil,
        _ handler: @escaping @Sendable (Provider, Request, ProviderContext) async throws -> JSON
    ) -> ProviderMethod {
        call(name, path, permission: permission, resources: resources, reply: reply) {
            (provider, request: Request, context) in
            CallAnswer(try await handler(provider, request, context))
        }
    }

    /// The resource that shows an app's settings of the provider, under `projects/*/apps/*`, to administrators.
    ///
    /// - Parameters:
    ///   - name: the last part of the resource's name: `deviceCheckConfig`.
    ///   - standard: the settings of an app without the provider, in the names of the resource; without its own name.
    ///   - fields: the fields in addition to the name and the token lifetime; never a secret.
    public static func config(
        _ name: String, standard: JSON? = nil, _ fields: @escaping @Sendable (Provider) -> [ReplyField] = { _ in [] }
    ) -> ProviderMethod {
        ProviderMethod(
            descriptor: MethodDescriptor(
                name: name, kind: .call(.admin), resources: [.app], path: MethodPath(.get, "/\(name)")),
            action: .config(ConfigResource(name: name, standard: standard ?? ["tokenTtl": "3600s"], fields: fields)))
    }
}

/// The answer to a call.
public struct CallAnswer: Sendable {
    /// The reply message.
    public var reply: JSON
    /// What is put on record, under names that the provider's descriptor lists.
    public var facts: [Fact]

    /// Makes an answer from the reply message and facts for the audit record.
    public init(_ reply: JSON, facts: [Fact] = []) {
        self.reply = reply
        self.facts = facts
    }
}

/// A call whose request has been read.
package struct PreparedCall: Sendable {
    package let answer: @Sendable (ProviderContext) async throws -> CallAnswer

    package init(answer: @escaping @Sendable (ProviderContext) async throws -> CallAnswer) {
        self.answer = answer
    }
}

/// An exchange whose request has been read, and whose evidence waits for appraisal.
package struct PreparedExchange: Sendable {
    package let challenge: [UInt8]?
    package let storesChallenge: Bool
    package let findsChallenge: Bool
    package let appraise: @Sendable (ProviderContext) async throws -> Verdict

    package init(
        challenge: [UInt8]?, storesChallenge: Bool = true, findsChallenge: Bool = false,
        appraise: @escaping @Sendable (ProviderContext) async throws -> Verdict
    ) {
        self.challenge = challenge
        self.storesChallenge = storesChallenge
        self.findsChallenge = findsChallenge
        self.appraise = appraise
    }
}
