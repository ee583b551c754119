internal import AssayCore
public import AssayHosting
internal import AssayKit
internal import AssayState
internal import Logging

/// Runs the maintenance of plugins when it is due, until its task is cancelled.
struct MaintenanceRunner: Sendable {
    let host: PluginHost
    let options: MaintenanceOptions
    /// The list of the policies in force.
    let list: @Sendable () -> MaintenanceList

    func run() async {
        let schedule = MaintenanceSchedule(
            randomness: host.randomness, round: options.round, longestPause: options.longestPause)
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
            case .run(let entry):
                let (record, least) = await run(entry)
                // A run that ended because the task was cancelled has not failed.
                guard !Task.isCancelled else { return }
                let failed = record.outcome != .succeeded
                let pause = schedule.finished(entry, failed: failed, at: host.clock.uptime, least: least)
                log(record, pause)
                options.onRun(record)
            }
        }
    }

    /// Runs an entry.
    ///
    /// Returns the result, and the least time until its next run.
    private func run(_ entry: MaintenanceEntry) async -> (MaintenanceRecord, least: Duration) {
        var logger = host.logger
        logger[metadataKey: entry.kind.rawValue] = "\(entry.plugin)"
        logger[metadataKey: "resource"] = "\(entry.resource)"
        let start = host.clock.uptime
        let context = entry.context(
            clock: host.clock, deadline: host.clock.now + entry.maintenance.timeLimit,
            state: StateSpace(entry.space, in: host.store), logger: logger)
        let outcome: MaintenanceRecord.Outcome
        var least = Duration.zero
        do {
            try await Deadline.run(entry.maintenance.timeLimit, clock: host.clock) {
                try await entry.maintenance.run(context)
            }
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
    /// Called after each run; it must not block.
    public var onRun: @Sendable (MaintenanceRecord) -> Void

    /// By default, four runs at once, a look at the policies every ten seconds, and pauses of at most an hour.
    public init(
        concurrency: Int = 4, round: Duration = .seconds(10), longestPause: Duration = .seconds(3600),
        onRun: @escaping @Sendable (MaintenanceRecord) -> Void = { _ in }
    ) {
        self.concurrency = concurrency
        self.round = round
        self.longestPause = longestPause
        self.onRun = onRun
    }
}

extension Engine {
    /// Does the work of providers and consumers between calls, until the task is cancelled: run it next to the code that makes the
    /// calls.
    ///
    /// The runs of apps and projects are spread over their intervals. Changed policies take effect within a round. No run is
    /// abandoned: a cancelled run is waited for.
    public func runMaintenance(_ options: MaintenanceOptions = MaintenanceOptions()) async {
        await MaintenanceRunner(host: host, options: options) { self.maintenance }.run()
    }
}
