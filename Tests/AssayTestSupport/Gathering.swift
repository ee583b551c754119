public import AssayCore
internal import AssayKit
import Synchronization

/// Holds all who come until so many are there, then lets them continue together: nobody is done before all have begun.
///
/// Whoever comes later passes at once.
public final class Gathering: Sendable {
    private struct State {
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let size: Int
    private let state = Mutex(State())

    /// Makes a gathering that opens at a number of arrivals.
    public init(of size: Int = 1) {
        self.size = size
    }

    /// How many have come so far.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until enough callers have arrived.
    public func arrive() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.arrivals += 1
                state.waiting.append(continuation)
                guard state.arrivals >= size else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in released { continuation.resume() }
        }
    }
}

/// Passes requests on when so many of them are there.
public final class GatheringHTTP: OutboundHTTP {
    private let gathering: Gathering
    private let next: any OutboundHTTP

    /// Makes a transport that waits at a gathering before it forwards a request.
    public init(_ gathering: Gathering, before next: any OutboundHTTP = NoOutboundHTTP()) {
        self.gathering = gathering
        self.next = next
    }

    /// Waits at the gathering, then forwards the request.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        await gathering.arrive()
        return try await next.send(request)
    }
}
