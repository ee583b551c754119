public import AssayCore
internal import Synchronization

/// A server that answers as a test says, and remembers what it was asked.
public final class ScriptedHTTP: OutboundHTTP {
    /// A response or a failure.
    public typealias Answer = Result<OutboundResponse, OutboundFailure>

    private let state: Mutex<(answers: [Answer], requests: [OutboundRequest])>
    private let fallback: @Sendable (OutboundRequest) async throws(OutboundFailure) -> OutboundResponse

    /// Makes a server that gives these answers in their order.
    public init(_ answers: [Answer]) {
        state = Mutex((answers, []))
        fallback = { (_) throws(OutboundFailure) in throw OutboundFailure(.cannotConnect, "nothing is scripted") }
    }

    /// Makes a server that answers each request by a closure.
    public init(_ answer: @escaping @Sendable (OutboundRequest) async throws(OutboundFailure) -> OutboundResponse) {
        state = Mutex(([], []))
        fallback = answer
    }

    /// The requests so far.
    public var requests: [OutboundRequest] { state.withLock { $0.requests } }

    /// Adds an answer after the others; a closure answers when none is left.
    public func add(_ answer: Answer) {
        state.withLock { $0.answers.append(answer) }
    }

    /// Gives the next answer; when none is left, the closure's, or a failure.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        // Others that want the same get their turn here, as they do while a real server is waited for.
        for _ in 0..<10 { await Task.yield() }
        let answer = state.withLock { state -> Answer? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { return try await fallback(request) }
        return try answer.get()
    }
}
