internal import AssayCore
public import AssayEngine
public import AssayKit
internal import Logging

/// Runs the maintenance of plugins when it is due, until its task is cancelled.
struct MaintenanceRunner: Sendable {
    let host: PluginHost
    let options: MaintenanceOptions
    /// What the servers of one state store share the work by; nil where no other server does it.
    let leases: MaintenanceLeases?
    /// The list of the policies in force.
    let list: @Sendable () -> MaintenanceList

    func run() async {
        let schedule = MaintenanceSchedule(
            randomness: host.randomness, round: options.round, longestPause: options.longestPause,
            isShared: leases != nil)
        if let leases {
            host.logger.info(
                "runs of maintenance are claimed in the state store", metadata: ["server": "\(leases.server)"])
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<max(options.concurrency, 1) {
                group.addTask { await work(schedule) }
            }
        }
    }

    private func work(_ schedule: MaintenanceSchedule) async {
        while !Task.isCancelled {
            switch schedule.next(list(), at: host.clock.uptime) {
            case .wait(let duration):
                guard (try? await host.clock.sleep(for: duration)) != nil else { return }
            case .announce(let entry, let delay):
                await leases?.announce(entry, after: delay, schedule)
            case .run(let entry):
                guard let leases else {
                    let (record, least) = await run(entry, under: nil)
                    // A run that ended because the task was cancelled has not failed.
                    guard !Task.isCancelled else { return }
                    _ = conclude(entry, record, least, schedule)
                    continue
                }
                guard let lease = await leases.take(entry, schedule) else { continue }
                let (record, least) = await run(entry, under: lease)
                guard !Task.isCancelled || record.outcome == .succeeded else {
                    await lease.release()
                    return
                }
                let pause = conclude(entry, record, least, schedule)
                await lease.finish(
                    next: pause ?? entry.maintenance.interval, failures: schedule.failures(of: entry))
            }
        }
    }

    /// Schedules the next run, and tells of the last one.
    ///
    /// Returns the time until the next run; nil when no policy asks for it any more.
    private func conclude(
        _ entry: MaintenanceEntry, _ record: MaintenanceRecord, _ least: Duration, _ schedule: MaintenanceSchedule
    ) -> Duration? {
        let failed = record.outcome != .succeeded
        let pause = schedule.finished(entry, failed: failed, at: host.clock.uptime, least: least)
        log(record, pause)
        options.onRun(record)
        return pause
    }

    /// Runs an entry.
    ///
    /// Returns the result, and the least time until its next run.
    ///
    /// - Parameter lease: without which the run does not continue; nil where no other server does the work.
    private func run(
        _ entry: MaintenanceEntry, under lease: MaintenanceLease?
    ) async -> (MaintenanceRecord, least: Duration) {
        var logger = host.logger
        logger[metadataKey: entry.kind.rawValue] = "\(entry.plugin)"
        logger[metadataKey: "resource"] = "\(entry.resource)"
        let start = host.clock.uptime
        let context = entry.context(
            clock: host.clock, deadline: host.clock.now + entry.maintenance.timeLimit,
            state: StateSpace(entry.space, in: host.store), logger: logger)
        let outcome: MaintenanceRecord.Outcome
        var least = Duration.zero
        let clock = host.clock
        let work = { @Sendable in
            try await Deadline.run(entry.maintenance.timeLimit, clock: clock) {
                try await entry.maintenance.run(context)
            }
        }
        do {
            if let lease { try await lease.hold(during: work) } else { try await work() }
            outcome = .succeeded
        } catch is DeadlineExceeded {
            outcome = .timedOut
        } catch let pause as MaintenancePause {
            outcome = .failed(SafeText.of(pause.message))
            least = pause.duration
        } catch {
            outcome = .failed(SafeText.of("\(error)"))
        }
        let record = MaintenanceRecord(
            kind: entry.kind, plugin: entry.plugin, resource: entry.resource,
            duration: host.clock.uptime - start, outcome: outcome, counts: context.counts)
        return (record, least)
    }

    private func log(_ record: MaintenanceRecord, _ pause: Duration?) {
        var metadata: Logger.Metadata = [
            record.kind.rawValue: "\(record.plugin)", "resource": "\(record.resource)",
        ]
        for (event, count) in record.counts { metadata["count.\(event)"] = "\(count)" }
        switch record.outcome {
        case .succeeded:
            guard !record.counts.isEmpty else { return }
            host.logger.info("maintenance done", metadata: metadata)
        case .failed(let error):
            metadata["error"] = "\(SafeText.field(error))"
            metadata["next_s"] = pause.map { "\($0.wholeSeconds)" }
            host.logger.warning("maintenance failed", metadata: metadata)
        case .timedOut:
            metadata["next_s"] = pause.map { "\($0.wholeSeconds)" }
            host.logger.warning("maintenance took too long", metadata: metadata)
        }
    }
}

/// How an engine runs the maintenance of its providers and consumers.
public struct MaintenanceOptions: Sendable {
    /// The most runs at once, of all plugins together.
    public var concurrency: Int
    /// How often changed policies are looked for.
    public var round: Duration
    /// The longest pause after repeated failures; a plugin's own interval may be longer.
    public var longestPause: Duration
    /// Whether other processes with the same state store do the same maintenance, so that each run must be done by one of
    /// them; nil to go by what the store says of itself (`StorageDescriptor.sharing`).
    public var isShared: Bool?
    /// Called after each run; it must not block.
    public var onRun: @Sendable (MaintenanceRecord) -> Void

    /// By default, four runs at once, a look at the policies every ten seconds, and pauses of at most an hour; the work
    /// is shared if the store is one that several processes can use.
    public init(
        concurrency: Int = 4, round: Duration = .seconds(10), longestPause: Duration = .seconds(3600),
        isShared: Bool? = nil, onRun: @escaping @Sendable (MaintenanceRecord) -> Void = { _ in }
    ) {
        self.concurrency = concurrency
        self.round = round
        self.longestPause = longestPause
        self.isShared = isShared
        self.onRun = onRun
    }
}

extension Engine {
    /// Does the work of providers and consumers between calls, until the task is cancelled: run it next to the code that makes the
    /// calls.
    ///
    /// The runs of apps and projects are spread over their intervals. Changed policies take effect within a round. No run is
    /// abandoned: a cancelled run is waited for. Processes that share a state store share the runs: each is done by one
    /// of them, and another one continues within a minute when that one has ended.
    public func runMaintenance(_ options: MaintenanceOptions = MaintenanceOptions()) async {
        let isShared = options.isShared ?? isStateShared
        let leases = isShared ? MaintenanceLeases(host, longestPause: options.longestPause) : nil
        await MaintenanceRunner(host: host, options: options, leases: leases) { self.maintenance }.run()
    }
}
