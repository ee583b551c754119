internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Synchronization

/// The right of this server to run the maintenance of one app or project; it is renewed while the run lasts.
///
/// The lease ends ``MaintenanceLeases/lifetime`` after the last renewal, by the clock of the server that looks. This
/// server gives it up ``MaintenanceLeases/margin`` earlier, so that the clocks may differ by that much: it then cancels
/// the run, and writes nothing more about it. Both the time of day and the uptime count, whichever says so first: one
/// of them may have stopped or jumped while the process did not run.
final class MaintenanceLease: Sendable {
    private let key: StateKey
    private let server: String
    private let host: PluginHost
    private let start: (now: Instant, uptime: Duration)
    /// The uptime at which the last renewal that succeeded was begun.
    private let renewed: Mutex<Duration>

    /// How long after a failed renewal the next one is tried.
    private static let retry = Duration.seconds(2)

    /// A lease that begins now, if it can be stored.
    init(_ key: StateKey, for server: String, host: PluginHost) {
        self.key = key
        self.server = server
        self.host = host
        start = (host.clock.now, host.clock.uptime)
        renewed = Mutex(start.uptime)
    }

    /// The end of a lease that is renewed at an uptime.
    ///
    /// A clock that is set back during the run shortens no lease.
    private func end(from uptime: Duration) -> Instant {
        start.now + (uptime - start.uptime) + MaintenanceLeases.lifetime
    }

    /// What the store holds at the beginning.
    var first: (value: [UInt8], expires: Instant) { value(from: start.uptime) }

    private func value(from uptime: Duration) -> (value: [UInt8], expires: Instant) {
        let end = end(from: uptime)
        return (MaintenanceClaim(.running, by: server, until: end, failures: 0).encoded, end)
    }

    /// How long the lease may still be relied upon; zero when it is lost.
    private var remaining: Duration {
        let renewed = renewed.withLock { $0 }
        let byUptime = renewed + MaintenanceLeases.lifetime - host.clock.uptime
        let byTime = end(from: renewed) - host.clock.now
        return max(min(byUptime, byTime) - MaintenanceLeases.margin, .zero)
    }

    /// Does work while the lease is renewed, and cancels it in time when it cannot be.
    ///
    /// - Throws: the work's error; ``Lost``. Work that ignores cancellation is waited for.
    func hold(during work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await work()
                return true
            }
            group.addTask {
                await self.keep()
                return false
            }
            group.addTask {
                try await self.watch()
                return false
            }
            defer { group.cancelAll() }
            while let isDone = try await group.next(), !isDone {}
        }
    }

    private func keep() async {
        var pause = MaintenanceLeases.renewal
        while (try? await host.clock.sleep(for: pause)) != nil {
            pause = await renew() ? MaintenanceLeases.renewal : Self.retry
        }
    }

    private func renew() async -> Bool {
        // Another server may have the lease by now, which must not be overwritten.
        let limit = remaining
        guard limit > .zero else { return false }
        let uptime = host.clock.uptime
        let (value, expires) = value(from: uptime)
        guard await write(value, expires: expires, within: limit) else { return false }
        renewed.withLock { $0 = max($0, uptime) }
        return true
    }

    /// Returns when the task is cancelled.
    ///
    /// - Throws: ``Lost`` as soon as the lease is not to be relied upon.
    private func watch() async throws {
        while true {
            let left = remaining
            guard left > .zero else { throw Lost() }
            guard (try? await host.clock.sleep(for: left)) != nil else { return }
        }
    }

    /// Lets no server run the maintenance before its next time.
    ///
    /// If the store is away for longer than the lease lasts, another server may run it earlier.
    func finish(next pause: Duration, failures: Int) async {
        let until = host.clock.now + pause
        let turn = MaintenanceClaim(.due, by: server, until: until, failures: failures)
        while remaining > .zero, await !write(turn.encoded, expires: until, within: remaining) {
            guard (try? await host.clock.sleep(for: Self.retry)) != nil else { return }
        }
    }

    /// Lets another server run the maintenance at once.
    func release() async {
        guard remaining > .zero else { return }
        _ = await write(nil, expires: nil, within: remaining)
    }

    /// Writes also when the task is cancelled: what the store was told must not be overtaken by what it is told next.
    private func write(_ value: [UInt8]?, expires: Instant?, within limit: Duration) async -> Bool {
        let (host, key) = (host, key)
        return await Task {
            do {
                try await Deadline.run(min(limit, MaintenanceLeases.answerLimit), clock: host.clock) {
                    try await host.store.put(key, value: value, expires: expires)
                }
                return true
            } catch {
                return false
            }
        }.value
    }

    /// The lease could not be renewed in time.
    struct Lost: Error, CustomStringConvertible {
        var description: String { "the lease could not be renewed in the state store" }
    }
}
