internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Logging
internal import Synchronization

/// The times when the maintenance of each plugin is to run.
///
/// Times are those of `HostClock.uptime`.
final class MaintenanceSchedule: Sendable {
    /// What a worker does next.
    enum Step: Sendable {
        case run(MaintenanceEntry)
        /// Tells the other servers when a new entry is to run first, or learns it from them.
        case announce(MaintenanceEntry, after: Duration)
        case wait(Duration)
    }

    private struct Task {
        var entry: MaintenanceEntry
        var next: Instant
        var failures = 0
        /// How often one after the other the state store could not say whose turn it is.
        var skips = 0
        var isRunning = false
        /// Whether its first run has been announced; always true where no other server shares the work.
        var isAnnounced = true
        /// Whether a policy asks for the task; a running task is remembered even if no policy does.
        var isListed = true
    }

    private struct State {
        var list: MaintenanceList?
        var tasks: [ExactText: Task] = [:]
        /// The waiting tasks by their times; an entry with another time than its task's is stale.
        var queue = ExpiryHeap<String>()

        mutating func set(_ space: String, to next: Instant) {
            tasks[space]?.next = next
            queue.push(.init(expires: next, payload: space))
        }
    }

    /// The longest pause that a run may ask for.
    static let longestWish = Duration.seconds(86_400)
    /// Within which time new entries are announced, or learnt from other servers.
    private static let introduction = Duration.seconds(20)
    private static let skipBackoff = Backoff(first: .seconds(10), limit: .seconds(60))

    private let randomness: Randomness
    private let round: Duration
    private let longestPause: Duration
    private let isShared: Bool
    private let state = Mutex(State())

    /// - Parameter isShared: whether other servers do the same work.
    init(randomness: Randomness, round: Duration, longestPause: Duration, isShared: Bool = false) {
        self.randomness = randomness
        self.round = max(round, .milliseconds(1))
        self.longestPause = longestPause
        self.isShared = isShared
    }

    /// The next step that is due, whose entry then counts as running until ``finished(_:failed:at:least:)``,
    /// ``postpone(_:by:failures:at:)`` or ``skipped(_:at:)``; or how long to wait.
    func next(_ list: MaintenanceList, at uptime: Duration) -> Step {
        let now = Self.instant(uptime)
        return state.withLock { state in
            if state.list !== list { take(list, &state, now) }
            while let earliest = state.queue.earliest {
                guard let task = state.tasks[earliest.payload], !task.isRunning, task.next == earliest.expires else {
                    _ = state.queue.pop()
                    continue
                }
                guard earliest.expires <= now else {
                    return .wait(min(max(earliest.expires - now, .milliseconds(1)), round))
                }
                _ = state.queue.pop()
                state.tasks[earliest.payload]?.isRunning = true
                guard task.isAnnounced else {
                    let interval = max(task.entry.maintenance.interval, .milliseconds(1))
                    return .announce(task.entry, after: randomness.duration(upTo: interval))
                }
                return .run(task.entry)
            }
            return .wait(round)
        }
    }

    /// Schedules the next run of an entry.
    ///
    /// Returns the time until then; nil when no policy asks for it any more.
    ///
    /// - Parameter least: the least time until then.
    @discardableResult
    func finished(
        _ entry: MaintenanceEntry, failed: Bool, at uptime: Duration, least: Duration = .zero
    ) -> Duration? {
        reschedule(entry, at: uptime) { task in
            task.failures = failed ? min(task.failures + 1, 64) : 0
            task.skips = 0
            return max(pause(task), min(least, Self.longestWish))
        }
    }

    /// Schedules the next attempt of an entry that is another server's now, or was announced.
    ///
    /// - Parameter failures: how many runs have failed one after the other, on whatever server; nil if not known.
    func postpone(_ entry: MaintenanceEntry, by pause: Duration, failures: Int?, at uptime: Duration) {
        reschedule(entry, at: uptime) { task in
            task.failures = failures.map { min(max($0, 0), 64) } ?? task.failures
            task.skips = 0
            task.isAnnounced = true
            return max(pause, .milliseconds(1))
        }
    }

    /// Schedules the next attempt of an entry of which the state store could not say whose turn it is: soon, then later
    /// and later, a minute at most.
    func skipped(_ entry: MaintenanceEntry, at uptime: Duration) {
        reschedule(entry, at: uptime) { task in
            task.skips = min(task.skips + 1, 64)
            return Self.skipBackoff.delay(after: task.skips, randomness: randomness)
        }
    }

    /// How many runs of an entry have failed one after the other.
    func failures(of entry: MaintenanceEntry) -> Int {
        state.withLock { $0.tasks[entry.space]?.failures ?? 0 }
    }

    /// Ends the present step of an entry; nil, and the entry is forgotten, when no policy asks for it any more.
    @discardableResult
    private func reschedule(
        _ entry: MaintenanceEntry, at uptime: Duration, _ change: (inout Task) -> Duration
    ) -> Duration? {
        state.withLock { state in
            guard var task = state.tasks[entry.space] else { return nil }
            guard task.isListed else {
                state.tasks[entry.space] = nil
                return nil
            }
            task.isRunning = false
            let pause = change(&task)
            state.tasks[entry.space] = task
            state.set(entry.space, to: Self.instant(uptime) + pause)
            return pause
        }
    }

    /// The interval, plus or minus a tenth; after failures, a growing pause.
    private func pause(_ task: Task) -> Duration {
        let interval = max(task.entry.maintenance.interval, .milliseconds(1))
        guard task.failures > 0 else { return interval * 9 / 10 + randomness.duration(upTo: interval / 5) }
        let backoff = Backoff(first: interval * 2, limit: max(longestPause, interval))
        return max(backoff.delay(after: task.failures, randomness: randomness), interval)
    }

    /// Replaces the list: new entries begin at a random moment of their first interval, so that apps do not all begin
    /// at once; the others keep their times.
    ///
    /// Where the work is shared, the moment is announced to the other servers first, within some seconds.
    private func take(_ list: MaintenanceList, _ state: inout State, _ now: Instant) {
        let previous = state.tasks
        state.list = list
        state.tasks = previous.filter { $0.value.isRunning }
        for space in state.tasks.keys { state.tasks[space]?.isListed = false }
        state.queue = ExpiryHeap()
        for entry in list.entries {
            let interval = max(entry.maintenance.interval, .milliseconds(1))
            let first = isShared ? min(interval, Self.introduction) : interval
            var task =
                previous[entry.space]
                ?? Task(entry: entry, next: now + randomness.duration(upTo: first), isAnnounced: !isShared)
            task.entry = entry
            task.isListed = true
            // An interval that has become shorter applies at once.
            if task.failures == 0 { task.next = min(task.next, now + interval * 11 / 10) }
            state.tasks[entry.space] = task
            if !task.isRunning { state.queue.push(.init(expires: task.next, payload: entry.space)) }
        }
    }

    private static func instant(_ uptime: Duration) -> Instant {
        Instant(milliseconds: uptime.wholeMilliseconds)
    }
}
