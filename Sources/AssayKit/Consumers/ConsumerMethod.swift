public import AssayCore

/// How a request selects the instance of a consumer that answers it.
@nonexhaustive public enum ConsumerSelection: Sendable, Hashable {
    /// The instance of the project that the request's token was issued for.
    case tokenProject
    /// The instance whose ``TokenConsumer/audiences`` contain the value of this field of the request. A request without
    /// the field finds the only instance, if it has only one audience.
    case audience(String)
    /// The same, if the name only selects the instance. A request without it finds the only instance of the projects
    /// that its caller may act in, with any number of audiences; of several, the one of the project that the JWT in the
    /// field `token` claims to be issued for.
    case section(audience: String, token: ExactText?)
    /// The instance of the project that the path names, `{resource=projects/*}`.
    case resource
}

/// A method of a consumer, of one of three kinds.
///
/// - ``exchange(_:)``: the result of token exchange;
/// - ``redeem(_:_:selection:reply:binding:allowsUnenforced:_:)``: a separate endpoint, for requests with a token;
/// - ``call(_:_:permission:selection:reply:binding:_:)``: a separate endpoint, for other requests.
public struct ConsumerMethod<Consumer: TokenConsumer>: Sendable {
    /// The method as clients see it; nil for token exchange, whose endpoint is the kernel's.
    public let descriptor: MethodDescriptor?
    package let selection: ConsumerSelection
    package let allowsUnenforced: Bool
    package let action: Action

    private init(
        descriptor: MethodDescriptor?, selection: ConsumerSelection, allowsUnenforced: Bool = false, action: Action
    ) {
        self.descriptor = descriptor
        self.selection = selection
        self.allowsUnenforced = allowsUnenforced
        self.action = action
    }

    package enum Action: Sendable {
        case exchange(@Sendable (Consumer, TokenExchangeRequest, ConsumerContext) async throws -> ExchangeVerdict)
        case answer(@Sendable (Consumer, RequestFields) throws -> PreparedRequest)
    }

    /// The result of token exchange, for requests that name one of the instance's audiences.
    public static func exchange(
        _ handler: @escaping @Sendable (Consumer, TokenExchangeRequest, ConsumerContext) async throws -> ExchangeVerdict
    ) -> ConsumerMethod {
        ConsumerMethod(descriptor: nil, selection: .tokenProject, action: .exchange(handler))
    }

    /// A method for requests with an App Check token.
    ///
    /// - `rules`: how it is called over HTTP.
    /// - `allowsUnenforced`: whether a policy can allow requests with an invalid token, because they only decide about
    ///   other requests. Answers see requests without a token then.
    /// - `prepare`: reads a request, before its token is verified. It is called once for each request, and must not wait. An
    ///   `InvalidRequest` that it throws rejects the request.
    public static func redeem<Request: RequestMessage>(
        _ name: String, _ rules: [HTTPRule], selection: ConsumerSelection, reply: MessageShape? = nil,
        binding: HTTPBinding = .standard, allowsUnenforced: Bool = false,
        _ prepare: @escaping @Sendable (Consumer, Request) throws -> PreparedRequest
    ) -> ConsumerMethod {
        var descriptor = MethodDescriptor(name: name, kind: .call(nil), resources: resources(selection), rules: rules)
            .with(request: Request.shape, reply: reply)
        descriptor.takesToken = true
        descriptor.binding = binding
        return ConsumerMethod(
            descriptor: descriptor, selection: selection, allowsUnenforced: allowsUnenforced,
            action: .answer { consumer, fields in try prepare(consumer, Request(fields)) })
    }

    /// A method for requests without a token.
    ///
    /// - `rules`: how it is called over HTTP.
    /// - `permission`: the permission that a caller needs; nil when none is required.
    public static func call<Request: RequestMessage>(
        _ name: String, _ rules: [HTTPRule], permission: Permission?, selection: ConsumerSelection,
        reply: MessageShape? = nil, binding: HTTPBinding = .standard,
        _ handler: @escaping @Sendable (Consumer, Request, ConsumerContext) async throws -> ConsumerVerdict
    ) -> ConsumerMethod {
        var descriptor = MethodDescriptor(
            name: name, kind: .call(permission), resources: resources(selection), rules: rules
        ).with(request: Request.shape, reply: reply)
        descriptor.binding = binding
        return ConsumerMethod(
            descriptor: descriptor, selection: selection,
            action: .answer { consumer, fields in
                let request = try Request(fields)
                return PreparedRequest { try await handler(consumer, request, $0) }
            })
    }

    private static func resources(_ selection: ConsumerSelection) -> Set<ResourceKind> {
        selection == .resource ? [.project] : []
    }
}
