@testable import AssayServices
import AssayCore
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import Logging
import Synchronization
import Testing

@testable import AssayEngine

/// Servers with one state store, which all have the same maintenance to do.
///
/// Their clocks may differ; the times of the log are those of the clock that the test moves.
final class SharedServers: Sendable {
    static let provider = "shift"
    static let resource = "projects/77/apps/1:77:ios:a0"
    /// The entry of the store about the maintenance.
    static let key = StateKey(MaintenanceLeases.space, "\(provider)/\(resource)")

    let clock = ManualClock()
    let store: MemoryStore
    let project = "p-\(Hex.encode(Randomness.system.bytes(8)))"
    private let servers = Mutex<[Server]>([])

    init() { store = MemoryStore(clock: clock.hostClock) }

    /// A run on one of the servers.
    struct Run: Sendable {
        let server: String
        let begin: Duration
        var end: Duration?
        var isCancelled = false
    }

    private static let log = Mutex<[String: [Run]]>([:])

    /// All runs, in the order of their beginnings.
    var runs: [Run] { Self.log.withLock { $0[project] ?? [] } }
    var isRunning: Bool { runs.contains { $0.end == nil } }

    struct ShiftProvider: AttestationProvider {
        struct Configuration: Decodable, Sendable {
            let every: Duration
            let takes: Duration?
            let word: String?
            let server: String
        }

        struct Request: RequestMessage {
            init(_ fields: RequestFields) throws(InvalidRequest) {}
        }

        static let descriptor = PluginDescriptor.provider(
            name: SharedServers.provider, summary: "Works in shifts.", reasons: [])
        static let methods: [ProviderMethod<ShiftProvider>] = [
            .exchange("exchangeShift") { (_, _: Request, _) in .verified }
        ]

        let maintenance: Maintenance?

        init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
            maintenance = Maintenance(every: configuration.every, timeLimit: .seconds(1000)) { context in
                let project = context.project.id
                let index = SharedServers.log.withLock { log in
                    log[project, default: []].append(
                        Run(server: configuration.server, begin: context.clock.uptime))
                    return log[project, default: []].count - 1
                }
                defer {
                    let isCancelled = Task.isCancelled
                    SharedServers.log.withLock { log in
                        log[project]?[index].end = context.clock.uptime
                        log[project]?[index].isCancelled = isCancelled
                    }
                }
                if let takes = configuration.takes { try await context.clock.sleep(for: takes) }
                switch configuration.word {
                case "throws": throw StateStoreOpeningError("as the test wants it")
                case "pauses": throw MaintenancePause(for: .seconds(900), "not for a while")
                default: break
                }
            }
        }
    }

    /// One server, whose way to the store may fail.
    final class Server: Sendable {
        let store: FailingStore
        let engine: Engine
        let log = RecordingLog()
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ all: SharedServers, _ section: String, skew: Duration, seed: UInt64) throws {
            store = FailingStore(all.store)
            let base = all.clock.hostClock
            let clock = HostClock(
                now: { base.now + skew }, uptime: { base.uptime }, sleep: { try await base.sleep(for: $0) })
            engine = try Engine(
                registry: Registry([.provider(ShiftProvider.self)]),
                policies: SharedServers.policies(all.project, section), keys: .pooled(),
                host: PluginHost(clock: clock, randomness: .seeded(seed), store: store, logger: log.logger))
        }

        var isAlive: Bool { task.withLock { $0 != nil } }

        func run() {
            let options = MaintenanceOptions(concurrency: 1, isShared: true)
            task.withLock { $0 = Task { [engine] in await engine.runMaintenance(options) } }
        }

        /// Ends as a server does on SIGTERM.
        func stop() async {
            let task = task.withLock { task in
                defer { task = nil }
                return task
            }
            task?.cancel()
            await task?.value
        }

        /// Ends as a server does on SIGKILL: it says nothing to the store any more.
        func die() async {
            store.isFailing = true
            await stop()
        }
    }

    static func policies(_ project: String, _ section: String) throws -> PolicySet {
        let text = """
            projects:
              - number: 77
                id: \(project)
                apps: [{id: "1:77:ios:a0", providers: {\(provider): {\(section)}}}]
            """
        return try .load([PolicyFile(name: "test.yaml", text: text)])
    }

    /// Starts a server; `section` is what the policy says of the maintenance.
    func start(_ name: String, _ section: String, skew: Duration = .zero, seed: UInt64 = 1) throws -> Server {
        let server = try Server(self, "\(section), server: \(name)", skew: skew, seed: seed)
        servers.withLock { $0.append(server) }
        server.run()
        return server
    }

    func stopAll() async {
        for server in servers.withLock({ $0 }) { await server.stop() }
    }

    /// Waits until every server waits for the clock: a run for its work, its time limit, its lease and the next renewal.
    private func settle() async throws {
        var quiet = 0
        for _ in 0..<100_000 where quiet < 3 {
            let alive = servers.withLock { $0.count { $0.isAlive } }
            let running = runs.count { $0.end == nil }
            quiet = clock.sleeperCount == alive + 3 * running ? quiet + 1 : 0
            try await Task.sleep(for: .microseconds(200))
        }
    }

    /// Lets time pass, second by second.
    func pass(_ seconds: Int) async throws {
        for _ in 0..<seconds {
            try await settle()
            clock.advance(by: .seconds(1))
        }
        try await settle()
    }

    /// Lets time pass until something holds, and returns how many seconds that took.
    func pass(until condition: () -> Bool) async throws -> Int {
        try await settle()
        for second in 0..<3600 {
            if condition() { return second }
            clock.advance(by: .seconds(1))
            try await settle()
        }
        Issue.record("it does not come about")
        return 3600
    }

    /// What the store holds about the maintenance.
    var turn: MaintenanceClaim? {
        get async { await store.get(Self.key).flatMap { MaintenanceClaim($0) } }
    }

    /// Whether no run began while another one lasted, nor before the least interval after it.
    func isOrderly(every interval: Duration) -> Bool {
        zip(runs, runs.dropFirst()).allSatisfy { run, next in
            guard let end = run.end else { return false }
            // A cancelled run is not done.
            return next.begin >= end + (run.isCancelled ? .zero : interval * 9 / 10 - .seconds(1))
        }
    }
}
