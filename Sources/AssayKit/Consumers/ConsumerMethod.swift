/// How a request finds the instance of a consumer that answers it.
public enum ConsumerSelection: Sendable, Hashable {
    /// The instance of the project that the request's token was issued for. Only for what is bound to the project by that.
    case tokenProject
    /// The instance that has the name which this field of the request holds, among its ``TokenConsumer/audiences``. A
    /// request without the field finds the only instance there is, if it has but one audience.
    case audience(String)
    /// The same where the name chooses the instance and serves for nothing else. A request without it finds the only instance
    /// of the projects that its caller may act in, however many audiences that has; of several, the one of the project that the
    /// JWT in the field `token` says that it was issued for.
    case section(audience: String, token: ExactText?)
    /// The instance of the project that the path names, `{resource=projects/*}`.
    case resource
}

/// A method of a consumer, of one of three kinds.
///
/// - ``exchange(_:)``: what token exchange gives for a token;
/// - ``redeem(_:_:selection:reply:binding:allowsUnenforced:service:demand:_:)``: a door of its own, for requests with a
///   token, and ``decide(_:_:selection:reply:binding:allowsUnenforced:service:demand:_:)``, for those that never wait;
/// - ``call(_:_:permission:selection:reply:binding:_:)``: a method without one.
public struct ConsumerMethod<Consumer: TokenConsumer>: Sendable {
    /// What the method looks like from outside; nil for token exchange, whose door is the kernel's.
    public let descriptor: MethodDescriptor?
    package let selection: ConsumerSelection
    package let action: Action
    package let allowsUnenforced: Bool

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
        case answer(@Sendable (Consumer, RequestFields) throws(InvalidRequest) -> PreparedRedemption)
    }

    /// What token exchange gives for a token, when a request names one of the instance's audiences.
    public static func exchange(
        _ handler: @escaping @Sendable (Consumer, TokenExchangeRequest, ConsumerContext) async throws -> ExchangeVerdict
    ) -> ConsumerMethod {
        ConsumerMethod(descriptor: nil, selection: .tokenProject, action: .exchange(handler))
    }

    /// A method for requests with an App Check token.
    ///
    /// - Parameters:
    ///   - rules: how it is called over HTTP.
    ///   - allowsUnenforced: whether a policy can let requests through whose token is not good, because they only say what
    ///     becomes of other requests. The handler sees requests without a token then.
    ///   - service: what requests are counted for in metrics, a name from the policy; nil for the consumer's own.
    ///   - demand: what the request asks for demands of its token, given what the section's `tokens` demands.
    ///   - facts: what is put on record of a request that is not let through, or that would not be if the policy enforced it,
    ///     under names that the descriptor lists: what an operator needs to know which request that was.
    ///   - handler: sees only tokens that meet the demand.
    public static func redeem<Request: RequestMessage>(
        _ name: String, _ rules: [HTTPRule], selection: ConsumerSelection, reply: MessageShape? = nil,
        binding: HTTPBinding = .standard, allowsUnenforced: Bool = false,
        service: (@Sendable (Consumer, Request) -> String?)? = nil,
        demand: (@Sendable (Consumer, Request, TokenDemand) -> TokenDemand)? = nil,
        facts: (@Sendable (Consumer, Request) -> [Fact])? = nil,
        _ handler: @escaping @Sendable (Consumer, Request, ConsumerContext) async throws -> ConsumerVerdict
    ) -> ConsumerMethod {
        redeem(
            name, rules, selection: selection, reply: reply, binding: binding, allowsUnenforced: allowsUnenforced,
            service: service, demand: demand, facts: facts
        ) { (consumer, request: Request) in
            .waiting { try await handler(consumer, request, $0) }
        }
    }

    /// The same as ``redeem(_:_:selection:reply:binding:allowsUnenforced:service:demand:_:)`` with a handler that never
    /// waits: where the token, too, is judged without waiting, the answer costs no more than the judgement.
    ///
    /// Nobody interrupts it. A handler that takes longer than a decision may take holds up its thread, and what it returns
    /// counts for nothing: the request is answered as one that could not be decided.
    public static func decide<Request: RequestMessage>(
        _ name: String, _ rules: [HTTPRule], selection: ConsumerSelection, reply: MessageShape? = nil,
        binding: HTTPBinding = .standard, allowsUnenforced: Bool = false,
        service: (@Sendable (Consumer, Request) -> String?)? = nil,
        demand: (@Sendable (Consumer, Request, TokenDemand) -> TokenDemand)? = nil,
        facts: (@Sendable (Consumer, Request) -> [Fact])? = nil,
        _ handler: @escaping @Sendable (Consumer, Request, ConsumerContext) throws -> ConsumerVerdict
    ) -> ConsumerMethod {
        redeem(
            name, rules, selection: selection, reply: reply, binding: binding, allowsUnenforced: allowsUnenforced,
            service: service, demand: demand, facts: facts
        ) { (consumer, request: Request) in
            .immediate { try handler(consumer, request, $0) }
        }
    }

    private static func redeem<Request: RequestMessage>(
        _ name: String, _ rules: [HTTPRule], selection: ConsumerSelection, reply: MessageShape?, binding: HTTPBinding,
        allowsUnenforced: Bool, service: (@Sendable (Consumer, Request) -> String?)?,
        demand: (@Sendable (Consumer, Request, TokenDemand) -> TokenDemand)?,
        facts: (@Sendable (Consumer, Request) -> [Fact])?,
        answer: @escaping @Sendable (Consumer, Request) -> ConsumerAnswer<ConsumerVerdict>
    ) -> ConsumerMethod {
        var descriptor = MethodDescriptor(name: name, kind: .call(nil), resources: resources(selection), rules: rules)
            .with(request: Request.shape, reply: reply)
        descriptor.takesToken = true
        descriptor.binding = binding
        return ConsumerMethod(
            descriptor: descriptor, selection: selection, allowsUnenforced: allowsUnenforced,
            action: .answer { (consumer, fields) throws(InvalidRequest) in
                let request = try Request(fields)
                return PreparedRedemption(
                    allowsUnenforced: allowsUnenforced, service: service?(consumer, request),
                    demand: { base in demand?(consumer, request, base) ?? base },
                    facts: { facts?(consumer, request) ?? [] }, answer: answer(consumer, request))
            })
    }

    /// A method for requests without a token.
    ///
    /// - Parameter permission: what a caller must be allowed to do; nil for anybody.
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
            action: .answer { (consumer, fields) throws(InvalidRequest) in
                let request = try Request(fields)
                return PreparedRedemption(
                    allowsUnenforced: false, service: nil, demand: { $0 }, facts: { [] },
                    answer: .waiting { try await handler(consumer, request, $0) })
            })
    }

    private static func resources(_ selection: ConsumerSelection) -> Set<ResourceKind> {
        selection == .resource ? [.project] : []
    }
}

/// A request to a consumer that has been read.
package struct PreparedRedemption: Sendable {
    /// Whether the policy can let it through without a good token.
    package let allowsUnenforced: Bool
    /// What it is counted for; nil for the consumer's name.
    package let service: String?
    /// What it demands of its token, given what the policy's section demands.
    package let demand: @Sendable (TokenDemand) -> TokenDemand
    /// What is put on record of the request where it is not simply let through.
    package let facts: @Sendable () -> [Fact]
    package let answer: ConsumerAnswer<ConsumerVerdict>

    package init(
        allowsUnenforced: Bool, service: String?, demand: @escaping @Sendable (TokenDemand) -> TokenDemand,
        facts: @escaping @Sendable () -> [Fact], answer: ConsumerAnswer<ConsumerVerdict>
    ) {
        self.allowsUnenforced = allowsUnenforced
        self.service = service
        self.demand = demand
        self.facts = facts
        self.answer = answer
    }
}
