internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Logging
internal import Synchronization

/// How the servers of one state store share maintenance: each run is done by one of them.
///
/// The store has one entry for each app or project and plugin, which only one server can insert, and which expires:
///
/// | it says | it expires | so |
/// |---|---|---|
/// | `due` | when the next run is due | nobody runs it before |
/// | `running` | 30 seconds after the last renewal | nobody else runs it; after a crash it ends by itself |
///
/// A server that finds an entry tries again 10 to 20 seconds after the entry's end. So the server that wrote it, which
/// tries at the end, continues with it as long as it lives; otherwise another one does after 50 seconds at most.
///
/// The clocks of the servers may differ by ``margin``. If they differ by more, or if a process is paused between its
/// look at the clock and a renewal, two servers may run the same maintenance at once: the store has no write that
/// depends on what was there, except insertion. Work that nobody may do twice is therefore claimed by the plugin, too.
final class MaintenanceLeases: Sendable {
    /// How long a lease lasts without renewal.
    static let lifetime = Duration.seconds(30)
    /// How often a lease is renewed.
    static let renewal = Duration.seconds(8)
    /// How long before its end a lease is given up by the server that has it.
    static let margin = Duration.seconds(10)
    /// How long after the end of an entry other servers try; up to twice as long.
    static let grace = Duration.seconds(10)
    /// How long the store may take.
    static let answerLimit = Duration.seconds(5)
    /// A namespace that no plugin can have: theirs contain a slash.
    static let space = "maintenance"
    /// How much later than possible the end of an entry may be before it is replaced: more than clocks differ.
    private static let tolerance = Duration.seconds(60)

    /// What this process is called in the store and in logs.
    let server: String
    private let host: PluginHost
    private let longestPause: Duration
    /// Whether the store fails; logged once.
    private let isAway = Mutex(false)

    init(_ host: PluginHost, longestPause: Duration) {
        self.host = host
        self.longestPause = longestPause
        server = Hex.encode(host.randomness.bytes(6))
    }

    /// Takes the lease of an entry whose time has come.
    ///
    /// Returns nil when it is another server's turn, or when the store fails; the entry is then scheduled again.
    func take(_ entry: MaintenanceEntry, _ schedule: MaintenanceSchedule) async -> MaintenanceLease? {
        let key = key(of: entry)
        let lease = MaintenanceLease(key, for: server, host: host)
        let (value, expires) = lease.first
        do {
            if try await insert(key, value, expires: expires) {
                host.logger.debug(
                    "maintenance is this server's turn",
                    metadata: [
                        entry.kind.rawValue: "\(entry.plugin)", "resource": "\(entry.resource)", "server": "\(server)",
                    ])
                return lease
            }
            try await giveWay(entry, schedule)
        } catch {
            skip(entry, schedule, error)
        }
        return nil
    }

    /// Tells the other servers when a new entry is to run first, unless they know already.
    func announce(_ entry: MaintenanceEntry, after delay: Duration, _ schedule: MaintenanceSchedule) async {
        let until = host.clock.now + delay
        let turn = MaintenanceClaim(.due, by: server, until: until, failures: 0)
        do {
            if try await insert(key(of: entry), turn.encoded, expires: until) {
                schedule.postpone(entry, by: delay, failures: 0, at: host.clock.uptime)
            } else {
                try await giveWay(entry, schedule)
            }
        } catch {
            skip(entry, schedule, error)
        }
    }

    /// Schedules an entry by what the store holds about it.
    private func giveWay(_ entry: MaintenanceEntry, _ schedule: MaintenanceSchedule) async throws {
        let (store, key) = (host.store, key(of: entry))
        let value = try await ask { try await store.get(key) }
        let now = host.clock.now
        // It may have ended just now, or a clock that was ahead may have removed later ones.
        var pause = Self.grace + host.randomness.duration(upTo: Self.grace)
        guard let value else {
            schedule.postpone(entry, by: pause, failures: nil, at: host.clock.uptime)
            return
        }
        guard let turn = MaintenanceClaim(value) else {
            host.logger.warning(
                "an entry about maintenance in the state is damaged, and is replaced",
                metadata: [entry.kind.rawValue: "\(entry.plugin)", "resource": "\(entry.resource)"])
            try await replace(entry, failures: 0, schedule)
            return
        }
        let left = max(turn.until - now, .zero)
        guard left <= longest(turn, of: entry) + Self.tolerance else {
            try await replace(entry, failures: turn.failures, schedule)
            return
        }
        // What this server has announced itself comes at its time.
        if turn.state == .due, turn.server.isExactly(server) { pause = .zero }
        host.logger.debug(
            "maintenance is another server's turn",
            metadata: [
                entry.kind.rawValue: "\(entry.plugin)", "resource": "\(entry.resource)",
                "server": "\(SafeText.of(turn.server, limit: 40))", "state": "\(turn.state.rawValue)",
                "until": "\(turn.until)",
            ])
        schedule.postpone(
            entry, by: left + pause, failures: turn.state == .due ? turn.failures : nil, at: host.clock.uptime)
    }

    /// How long an entry can last, by the policy that is in force here.
    private func longest(_ turn: MaintenanceClaim, of entry: MaintenanceEntry) -> Duration {
        switch turn.state {
        case .running: Self.lifetime
        case .due:
            turn.failures == 0
                ? entry.maintenance.interval * 11 / 10
                : max(entry.maintenance.interval * 11 / 10, longestPause, MaintenanceSchedule.longestWish)
        }
    }

    /// Replaces an entry that is damaged, or lasts longer than any of this policy: the interval has become shorter, or the
    /// clock of the server that wrote it was ahead.
    ///
    /// No server takes the new entry's lease before this write has ended, because the entry is there for long enough.
    private func replace(
        _ entry: MaintenanceEntry, failures: Int, _ schedule: MaintenanceSchedule
    ) async throws {
        let delay = max(host.randomness.duration(upTo: entry.maintenance.interval), Self.lifetime)
        let until = host.clock.now + delay
        let (store, key) = (host.store, key(of: entry))
        let value = MaintenanceClaim(.due, by: server, until: until, failures: failures).encoded
        try await ask { try await store.put(key, value: value, expires: until) }
        schedule.postpone(entry, by: delay, failures: failures, at: host.clock.uptime)
    }

    // MARK: - Asking the store

    private func key(of entry: MaintenanceEntry) -> StateKey { StateKey(Self.space, entry.space) }

    private func insert(_ key: StateKey, _ value: [UInt8], expires: Instant) async throws -> Bool {
        let store = host.store
        return try await ask { try await store.insert(key, value: value, expires: expires, isListed: false) }
    }

    private func ask<Value: Sendable>(_ question: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let value = try await Deadline.run(Self.answerLimit, clock: host.clock, question)
        let wasAway = isAway.withLock { isAway in
            defer { isAway = false }
            return isAway
        }
        if wasAway { host.logger.notice("maintenance continues: the state store answers again") }
        return value
    }

    private func skip(_ entry: MaintenanceEntry, _ schedule: MaintenanceSchedule, _ error: any Error) {
        schedule.skipped(entry, at: host.clock.uptime)
        guard !Task.isCancelled else { return }
        let wasAway = isAway.withLock { isAway in
            defer { isAway = true }
            return isAway
        }
        guard !wasAway else { return }
        let text =
            error is DeadlineExceeded
            ? "it did not answer within \(Self.answerLimit.wholeSeconds) s" : SafeText.of("\(error)")
        host.logger.warning(
            "maintenance waits: the state store does not say whose turn it is", metadata: ["error": "\(text)"])
    }
}
