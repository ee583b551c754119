public import AssayCore
internal import Synchronization

/// A server that takes records as lines of JSON, for sinks that send them by HTTP.
public final class SimulatedLogServer: OutboundHTTP {
    /// How it behaves.
    public enum Mood: Sendable {
        /// It takes what it is sent, with status 204.
        case taking
        /// It answers with a status, and takes nothing.
        case failing(Int)
        /// It answers after minutes.
        case slow
    }

    private let state = Mutex<(mood: Mood, requests: [OutboundRequest], written: [DecisionSinkSuite.Written])>(
        (.taking, [], []))

    /// Makes a server that takes everything.
    public init() {}

    /// How it behaves from now on.
    public var mood: Mood {
        get { state.withLock { $0.mood } }
        set { state.withLock { $0.mood = newValue } }
    }

    /// The requests that it took.
    public var requests: [OutboundRequest] { state.withLock { $0.requests } }
    /// The records that it took, in their order.
    public var written: [DecisionSinkSuite.Written] { state.withLock { $0.written } }

    /// Forgets everything, and takes what comes.
    public func reset() { state.withLock { $0 = (.taking, [], []) } }

    /// Answers a request.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        switch mood {
        case .failing(let status): return OutboundResponse(status: status)
        case .slow:
            try? await Task.sleep(for: .seconds(600))
            throw OutboundFailure(.cancelled, "the call was cancelled")
        case .taking:
            let lines = request.body.split(separator: UInt8(ascii: "\n"))
            state.withLock { state in
                state.requests.append(request)
                state.written += lines.compactMap { DecisionSinkSuite.Written(line: Array($0)) }
            }
            return OutboundResponse(status: 204)
        }
    }
}
