internal import AssayCore
internal import AssayKit
internal import Synchronization

/// What a simulated server was asked, and what it is to do with the next requests.
final class RequestScript: Sendable {
    /// So many requests are kept if nothing else is said.
    static let standardLimit = 10_000

    private let limit: Int
    private let state = Mutex<(answers: [ScriptedAnswer], requests: [OutboundRequest])>(([], []))

    /// - Parameter limit: how many requests are kept: the first ones.
    init(keeping limit: Int = standardLimit) {
        self.limit = limit
    }

    /// The first requests, in the order of their arrival.
    var requests: [OutboundRequest] { state.withLock { $0.requests } }

    /// Says what is done with the next requests, after those of which it was said.
    func add(_ answers: [ScriptedAnswer]) {
        state.withLock { $0.answers += answers }
    }

    /// Leaves all further requests to the server.
    func clear() {
        state.withLock { $0.answers = [] }
    }

    /// Keeps a request, and returns what is done with it; `.proceed` where nothing was said.
    func answer(_ request: OutboundRequest) -> ScriptedAnswer {
        state.withLock { state in
            if state.requests.count < limit { state.requests.append(request) }
            return state.answers.isEmpty ? .proceed : state.answers.removeFirst()
        }
    }
}
