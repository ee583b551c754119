internal import AssayCore
internal import Synchronization

/// Limits the concurrent calls of one server; further calls wait in the order in which they came.
///
/// The client below limits connections too, but fails waiting calls after the connection timeout, whatever time their
/// calls have.
final class ConnectionSlots: Sendable {
    private struct Waiter {
        let number: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Server {
        var busy = 0
        var waiting: [Waiter] = []
    }

    private struct State {
        var next: UInt64 = 0
        var servers: [ExactText: Server] = [:]
        /// Waits that were cancelled before they began.
        var cancelled: Set<UInt64> = []
    }

    /// How many calls may wait for one server.
    private static let waitingLimit = 1024

    private let count: Int
    private let state = Mutex(State())

    init(count: Int) {
        self.count = max(count, 1)
    }

    /// Runs an operation while it holds one of the server's places.
    func with<Value: Sendable>(_ url: EndpointURL, _ body: () async throws -> Value) async throws -> Value {
        let server = "\(url.host):\(url.port)"
        try await acquire(server)
        defer { release(server) }
        return try await body()
    }

    private func acquire(_ server: String) async throws {
        let number = state.withLock { state in
            state.next &+= 1
            return state.next
        }
        // A cancelled wait leaves nothing behind.
        defer { _ = state.withLock { $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = begin(Waiter(number: number, continuation: continuation), server)
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            cancel(number, server)?.resume(throwing: CancellationError())
        }
    }

    /// The immediate result for a call; nil when it has to wait.
    private func begin(_ waiter: Waiter, _ server: String) -> Result<Void, any Error>? {
        state.withLock { state in
            if state.cancelled.remove(waiter.number) != nil { return .failure(CancellationError()) }
            if state.servers[server, default: Server()].busy < count {
                state.servers[server, default: Server()].busy += 1
                return .success(())
            }
            guard state.servers[server, default: Server()].waiting.count < Self.waitingLimit else {
                return .failure(OutboundFailure(.busy, "\(server): too many calls wait for a connection"))
            }
            state.servers[server, default: Server()].waiting.append(waiter)
            return nil
        }
    }

    private func cancel(_ number: UInt64, _ server: String) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            guard let index = state.servers[server]?.waiting.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.servers[server]?.waiting.remove(at: index).continuation
        }
    }

    /// Gives the place to the call that has waited longest.
    private func release(_ server: String) {
        let next = state.withLock { state -> Waiter? in
            guard var entry = state.servers[server] else { return nil }
            defer { state.servers[server] = entry.busy == 0 ? nil : entry }
            guard !entry.waiting.isEmpty else {
                entry.busy -= 1
                return nil
            }
            return entry.waiting.removeFirst()
        }
        next?.continuation.resume()
    }
}
