package import AssayCore
package import AssayKit
internal import Logging
internal import Synchronization

/// Holds a plugin to its limits: the way into every call of it, by all apps and projects.
package final class PluginGuard: Sendable {
    package let descriptor: PluginDescriptor
    private let threads: WorkerThreads
    private let workers: WorkerThreads
    private let running = Atomic(0)
    private let clients = Mutex<GuardedHTTP?>(nil)

    /// The threads of an isolated plugin: one that blocks does not stop the others.
    private static let threadCount = 4

    package init(_ descriptor: PluginDescriptor) {
        self.descriptor = descriptor
        // Each running call has one job at most, and its child tasks a few.
        threads = WorkerThreads(count: PluginGuard.threadCount, waiting: .max / 2)
        workers = WorkerThreads(count: PluginGuard.threadCount, waiting: descriptor.limits.concurrentCalls)
    }

    package var name: String { descriptor.name }
    package var limits: PluginLimits { descriptor.limits }
    var isIsolated: Bool { descriptor.execution == .isolated }

    /// The host as the plugin gets it.
    package func host(_ host: PluginHost) -> PluginHost {
        var own = host
        own.meter = host.meter.scoped(to: name)
        own.store = PluginStore(host.store, of: self, host: host)
        own.space = StateSpace(name, in: own.store)
        own.workers = workers
        own.uncountedHTTP = host.http
        // Instances that share a client also share what they know of its servers.
        own.http = clients.withLock { client in
            if let client, client.wraps(host.http) { return client }
            let made = GuardedHTTP(host.http, of: self, host: host)
            client = made
            return made
        }
        return own
    }

    /// A breaker for one instance.
    package static func breaker(_ host: PluginHost) -> CircuitBreaker {
        CircuitBreaker(threshold: 16, pause: .seconds(5), clock: host.clock)
    }

    // MARK: - What happened

    func count(_ limit: PluginLimitExceeded.Limit, _ host: PluginHost) {
        host.meter.unscoped.add(to: GuardMetrics.exceeded, name, limit.rawValue)
    }

    func countFault(_ host: PluginHost) {
        host.meter.unscoped.add(to: GuardMetrics.faults, name)
    }

    // MARK: - Calls

    /// One call of an instance.
    package struct Entry: Sendable {
        package let host: PluginHost
        package let deadlines: DeadlineQueue
        /// What stops calls of an instance that keeps failing; nil for none.
        package let breaker: CircuitBreaker?
        /// How long the caller still waits.
        package let timeLeft: Duration

        package init(host: PluginHost, deadlines: DeadlineQueue, breaker: CircuitBreaker?, timeLeft: Duration) {
            self.host = host
            self.deadlines = deadlines
            self.breaker = breaker
            self.timeLeft = timeLeft
        }
    }

    /// Runs a call of the plugin, and answers in time whatever the plugin does.
    ///
    /// - Parameter isFault: whether a result breaks the contract, for the breaker.
    /// - Throws: what the call throws; `DeadlineExceeded`, `PluginLimitExceeded`, `PluginResting`.
    package func run<Value: Sendable>(
        _ entry: Entry, isFault: (Value) -> Bool = { _ in false },
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        var pass: CircuitBreaker.Pass?
        if let breaker = entry.breaker {
            switch breaker.begin() {
            case .admitted(let admitted): pass = admitted
            case .refused(let retryAfter): throw PluginResting(plugin: name, retryAfter: retryAfter)
            }
        }
        do {
            let value = try await race(entry, operation)
            let isFault = isFault(value)
            if isFault { countFault(entry.host) }
            end(pass, entry, isFault ? .failure : .success)
            return value
        } catch {
            if error is PluginFault { countFault(entry.host) }
            end(pass, entry, PluginGuard.outcome(of: error), isDecided: !PluginGuard.isUndecided(error))
            throw error
        }
    }

    private func race<Value: Sendable>(
        _ entry: Entry, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard running.wrappingAdd(1, ordering: .relaxed).newValue <= limits.concurrentCalls else {
            running.wrappingSubtract(1, ordering: .relaxed)
            count(.concurrentCalls, entry.host)
            throw PluginLimitExceeded(
                limit: .concurrentCalls,
                description: "the plugin \(name) has as many calls as it may have at a time: \(limits.concurrentCalls)",
                retryAfter: .seconds(1))
        }
        let limit = min(entry.timeLeft, limits.time ?? entry.timeLeft)
        let start = entry.host.clock.uptime
        let call = PluginCall<Value>(self, entry.host)
        let task = call.start(operation)
        if let result = call.outcome.present {
            guard entry.host.clock.uptime - start < limit else {
                count(.time, entry.host)
                throw DeadlineExceeded()
            }
            return try result.get()
        }
        let ticket = entry.deadlines.add(after: limit) {
            call.abandon(task, PluginLimitExceeded.Limit.time, DeadlineExceeded())
        }
        defer { entry.deadlines.remove(ticket) }
        return try await withTaskCancellationHandler {
            try await call.outcome.value
        } onCancel: {
            task.cancel()
        }
    }

    fileprivate var threadsOfCalls: WorkerThreads { threads }

    fileprivate func leave() {
        running.wrappingSubtract(1, ordering: .relaxed)
    }

    /// How many calls run, those that were abandoned included.
    var runningCalls: Int { running.load(ordering: .relaxed) }

    private func end(
        _ pass: CircuitBreaker.Pass?, _ entry: Entry, _ outcome: CircuitBreaker.Outcome, isDecided: Bool = true
    ) {
        guard let pass, let breaker = entry.breaker,
            let state = isDecided ? breaker.end(pass, outcome) : breaker.endUndecided(pass)
        else { return }
        switch state {
        case .open:
            entry.host.meter.unscoped.add(1, to: GuardMetrics.resting, name)
            entry.host.logger.warning(
                "an instance of a plugin keeps failing, and is not called for a while", metadata: ["plugin": "\(name)"])
        case .closed:
            entry.host.meter.unscoped.add(-1, to: GuardMetrics.resting, name)
        case .halfOpen: break
        }
    }

    /// Whether a plugin answers that it cannot decide now.
    private static func isUndecided(_ error: any Error) -> Bool {
        guard let error = error as? CallFailure else { return false }
        return error.status == .unavailable || error.status == .internalError
    }

    /// What an error says about the plugin: its own answers are no failures.
    private static func outcome(of error: any Error) -> CircuitBreaker.Outcome {
        switch error {
        case is InvalidRequest, is CallFailure: .success
        case is CancellationError: .unknown
        case let error as PluginLimitExceeded where error.limit == .concurrentCalls: .unknown
        default: .failure
        }
    }
}

/// One running call.
private final class PluginCall<Value: Sendable>: Sendable {
    private enum Phase {
        case running
        case ended
        /// Answered at its limit, and still running.
        case abandoned
    }

    let outcome = FirstResult<Value>()
    private let plugin: PluginGuard
    private let host: PluginHost
    private let budget = CallBudget()
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let phase = Mutex(Phase.running)

    init(_ plugin: PluginGuard, _ host: PluginHost) {
        self.plugin = plugin
        self.host = host
    }

    func start(_ operation: @escaping @Sendable () async throws -> Value) -> Task<Void, Never> {
        let task = launch(operation)
        if plugin.isIsolated { self.task.withLock { $0 = task } }
        return task
    }

    private func launch(_ operation: @escaping @Sendable () async throws -> Value) -> Task<Void, Never> {
        CallBudget.$current.withValue(budget) {
            guard plugin.isIsolated else { return Task.immediate { await self.run(operation) } }
            let executor = CallExecutor(plugin.threadsOfCalls) { [self] nanoseconds in charge(nanoseconds) }
            return Task(executorPreference: executor) { await self.run(operation) }
        }
    }

    private func run(_ operation: @Sendable () async throws -> Value) async {
        let result = await Result { try await operation() }
        outcome.settle(result)
        let last = phase.withLock { phase in
            defer { phase = .ended }
            return phase
        }
        plugin.leave()
        if case .abandoned = last { host.meter.unscoped.add(-1, to: GuardMetrics.abandoned, plugin.name) }
    }

    private func charge(_ nanoseconds: Int) {
        guard budget.exceedsCPU(adding: nanoseconds, plugin.limits) else { return }
        let error = PluginLimitExceeded(
            limit: .cpuTime, description: "the call of the plugin \(plugin.name) took too much CPU time")
        guard let task = task.withLock({ $0 }) else { return }
        // A call that computed without waiting has its answer already. It counts all the same.
        if !abandon(task, .cpuTime, error) { plugin.count(.cpuTime, host) }
    }

    /// Answers in place of the plugin, which is cancelled and may continue anyway; returns false when it has answered.
    @discardableResult
    func abandon(_ task: Task<Void, Never>, _ limit: PluginLimitExceeded.Limit, _ error: any Error) -> Bool {
        guard outcome.settle(.failure(error)) else { return false }
        plugin.count(limit, host)
        task.cancel()
        let isAbandoned = phase.withLock { phase in
            guard case .running = phase else { return false }
            phase = .abandoned
            return true
        }
        guard isAbandoned else { return true }
        host.meter.unscoped.add(1, to: GuardMetrics.abandoned, plugin.name)
        host.logger.warning(
            "a call of a plugin took too long, and was answered without it",
            metadata: ["plugin": "\(plugin.name)", "running_calls": "\(plugin.runningCalls)"])
        return true
    }
}
