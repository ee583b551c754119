/// What decides about a request to a consumer, after all that the kernel judges of it.
package enum ConsumerAnswer<Verdict: Sendable>: Sendable {
    /// Waits for nobody.
    case immediate(@Sendable (ConsumerContext) throws -> Verdict)
    case waiting(@Sendable (ConsumerContext) async throws -> Verdict)

    package func callAsFunction(_ context: ConsumerContext) async throws -> Verdict {
        switch self {
        case .immediate(let answer): try answer(context)
        case .waiting(let answer): try await answer(context)
        }
    }

    package func map<Other>(_ transform: @escaping @Sendable (Verdict) -> Other) -> ConsumerAnswer<Other> {
        switch self {
        case .immediate(let answer): .immediate { transform(try answer($0)) }
        case .waiting(let answer): .waiting { transform(try await answer($0)) }
        }
    }
}
