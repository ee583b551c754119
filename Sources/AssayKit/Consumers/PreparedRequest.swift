public import AssayCore

/// A consumer's reading of a request: the service that it is counted for, its demand on the token, and its answer.
///
/// A consumer makes one for each request with a token, so that a request is parsed once:
///
///     PreparedRequest(service: backend.name, demand: backend.demand) { context in
///         .granted(ConsumerReply(["app": .string(context.app?.subject ?? "")]))
///     }
///
/// The kernel then verifies the token by the demand, and asks for the answer if the demand is met.
public struct PreparedRequest: Sendable {
    /// The decision about the request after the kernel has verified the token.
    package enum Answer: Sendable {
        /// It never waits.
        case immediate(@Sendable (ConsumerContext) throws -> ConsumerVerdict)
        case waiting(@Sendable (ConsumerContext) async throws -> ConsumerVerdict)

        package func callAsFunction(_ context: ConsumerContext) async throws -> ConsumerVerdict {
            switch self {
            case .immediate(let answer): try answer(context)
            case .waiting(let answer): try await answer(context)
            }
        }
    }

    package let service: String?
    package let part: String?
    package let demand: TokenDemand?
    package let inherits: ServiceLevelSet
    package let facts: @Sendable () -> [Fact]
    package let answer: Answer
    /// Whether the answer is a refusal for what is asked, whatever the token is.
    package let isRefused: Bool

    private init(
        service: String?, part: String?, demand: TokenDemand?, inherits: ServiceLevelSet,
        facts: @escaping @Sendable () -> [Fact], _ answer: Answer, isRefused: Bool = false
    ) {
        self.service = service
        self.part = part
        self.demand = demand
        self.inherits = inherits
        self.facts = facts
        self.answer = answer
        self.isRefused = isRefused
    }

    /// - Parameters:
    ///   - service: the service that the request is counted for in metrics, a name from the policy; nil for the
    ///     consumer's own name.
    ///   - part: which part of the service's section the request is for, as ``PartDemand/part`` has it, for tools that explain
    ///     policies; nil for what no part has.
    ///   - demand: what the request demands of its token; nil for what the section's `tokens` demands
    ///     (``ConsumerScope/tokens``).
    ///   - inherits: the levels of the demand that are taken from the service (``PartDemand/inherits``): they are replaced by
    ///     those that administrators have set. The answer finds the level in force in ``ConsumerContext/enforcement``.
    ///   - facts: what is put on record of a request that is refused, or would be if the policy enforced its demand, under
    ///     names that the descriptor lists: what an operator needs to know which request that was. It is computed for such
    ///     requests only. A fact whose value is not of its type is dropped, and the record's detail names it.
    ///   - answer: sees only tokens that meet the demand. A `CallFailure` or an `InvalidRequest` that it throws is the
    ///     answer; any other error means that nothing could be decided now.
    public init(
        service: String? = nil, part: String? = nil, demand: TokenDemand? = nil, inherits: ServiceLevelSet = [],
        facts: @autoclosure @escaping @Sendable () -> [Fact] = [],
        answer: @escaping @Sendable (ConsumerContext) async throws -> ConsumerVerdict
    ) {
        self.init(service: service, part: part, demand: demand, inherits: inherits, facts: facts, .waiting(answer))
    }

    /// A request whose answer never waits: where the token, too, is judged without waiting, the answer costs no more than
    /// the judgement.
    ///
    /// An answer that takes longer than a decision may take is not interrupted. Its result is not used: the request is
    /// answered as one that could not be decided.
    ///
    /// The parameters are those of ``init(service:part:demand:inherits:facts:answer:)``.
    public static func immediate(
        service: String? = nil, part: String? = nil, demand: TokenDemand? = nil, inherits: ServiceLevelSet = [],
        facts: @autoclosure @escaping @Sendable () -> [Fact] = [],
        answer: @escaping @Sendable (ConsumerContext) throws -> ConsumerVerdict
    ) -> PreparedRequest {
        PreparedRequest(
            service: service, part: part, demand: demand, inherits: inherits, facts: facts, .immediate(answer))
    }

    /// A request that is refused for what it asks, whatever its token is.
    ///
    /// The token is verified for the record, and is neither consumed nor a reason: also a request without a token is refused with
    /// this reason.
    ///
    /// The other parameters are those of ``init(service:part:demand:inherits:facts:answer:)``.
    public static func refused(
        _ reason: Reason, service: String? = nil, part: String? = nil, demand: TokenDemand? = nil,
        inherits: ServiceLevelSet = [], facts: @autoclosure @escaping @Sendable () -> [Fact] = []
    ) -> PreparedRequest {
        PreparedRequest(
            service: service, part: part, demand: demand, inherits: inherits, facts: facts,
            .immediate { _ in .refused(reason) }, isRefused: true)
    }
}
