public import AssayCore
internal import Synchronization

/// A server that answers as a test says, and remembers what it was asked.
public final class ScriptedHTTP: OutboundHTTP {
    /// A response or a failure.
    public typealias Answer = Result<OutboundResponse, OutboundFailure>

    private let state: Mutex<(answers: [Answer], requests: [OutboundRequest])>

    /// Makes a server that gives these answers in their order.
    public init(_ answers: [Answer]) {
        state = Mutex((answers, []))
    }

    /// The requests so far.
    public var requests: [OutboundRequest] { state.withLock { $0.requests } }

    /// Adds an answer after the others.
    public func add(_ answer: Answer) {
        state.withLock { $0.answers.append(answer) }
    }

    /// Gives the next answer; fails when none is left.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        // Others that want the same get their turn here, as they do while a real server is waited for.
        for _ in 0..<10 { await Task.yield() }
        let answer = state.withLock { state -> Answer in
            state.requests.append(request)
            return state.answers.isEmpty
                ? .failure(OutboundFailure(.cannotConnect, "nothing is scripted")) : state.answers.removeFirst()
        }
        return try answer.get()
    }
}
