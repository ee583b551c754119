@testable import AssayServices
import AssayCore
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Synchronization
import Testing

@testable import AssayEngine

@Suite("Maintenance of plugins")
struct MaintenanceTests {
    /// What its maintenance does is decided by the test, by the app's bundle.
    struct CaringProvider: AttestationProvider {
        struct Configuration: Decodable, Sendable {
            let every: Duration?
            let word: String?
        }

        struct Request: RequestMessage {
            init(_ fields: RequestFields) throws(InvalidRequest) {}
        }

        static let descriptor = PluginDescriptor.provider(name: "caring", summary: "Cares.", reasons: [])
        static let methods: [ProviderMethod<CaringProvider>] = [
            .exchange("exchangeCare") { (_, _: Request, _) in .verified },
            .exchange("exchangeMoreCare") { (_, _: Request, _) in .verified },
        ]
        static let begun = Mutex<[String: [String]]>([:])

        let maintenance: Maintenance?

        init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
            let word = configuration.word ?? ""
            maintenance = configuration.every.map { every in
                Maintenance(every: every, timeLimit: word == "hangs" ? .seconds(30) : .seconds(100_000)) { context in
                    Self.begun.withLock { $0[context.project.id, default: []].append(word) }
                    switch word {
                    case "throws": throw StateStoreOpeningError("as the test wants it")
                    case "hangs", "stays": try await context.clock.sleep(for: .seconds(1_000_000))
                    case "pauses": throw MaintenancePause(for: .seconds(900), "not for a while")
                    case "writes": try await context.state.put("written", value: [1])
                    default: context.count(MaintenanceEvent("cared"))
                    }
                }
            }
        }
    }

    /// An engine whose project has a name of its own, so that tests do not see each other's runs.
    struct Scene {
        let clock = ManualClock()
        let project = "p-\(Hex.encode(Randomness.system.bytes(8)))"
        let store: MemoryStore
        let engine: Engine
        let records = RecordedRuns()

        init(_ sections: [String], randomness: Randomness = .system) throws {
            store = MemoryStore(clock: clock.hostClock)
            engine = try Engine(
                registry: Registry([.provider(CaringProvider.self)]), policies: Self.policies(project, sections),
                keys: .pooled(),
                host: PluginHost(
                    clock: clock.hostClock, randomness: randomness, store: store, logger: TestService.silent))
        }

        static func policies(_ project: String, _ sections: [String]) throws -> PolicySet {
            let apps = sections.enumerated().map { index, section in
                "      - {id: \"1:77:ios:a\(index)\", providers: {caring: {\(section)}}}"
            }
            let text = "projects:\n  - number: 77\n    id: \(project)\n    apps:\n" + apps.joined(separator: "\n")
            return try .load([PolicyFile(name: "test.yaml", text: text)])
        }

        var begun: [String] { CaringProvider.begun.withLock { $0[project] ?? [] } }

        /// Runs the maintenance while `body` does its checks.
        func run(concurrency: Int = 4, _ body: @escaping @Sendable () async throws -> Void) async throws {
            let options = MaintenanceOptions(concurrency: concurrency) { [records] in records.add($0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.runMaintenance(options) }
                try await body()
                group.cancelAll()
                try await group.waitForAll()
            }
        }

        /// Lets time pass, second by second, until something holds; an hour at most.
        ///
        /// Before each second all workers are waited for, so that a slow machine changes nothing.
        func pass(workers: Int = 4, until condition: @Sendable () -> Bool) async throws {
            for _ in 0..<3600 {
                for _ in 0..<100_000 where !condition() && clock.sleeperCount < workers {
                    try await Task.sleep(for: .microseconds(200))
                }
                if condition() { return }
                clock.advance(by: .seconds(1))
            }
            Issue.record("it does not come about")
        }
    }

    final class RecordedRuns: Sendable {
        private let kept = Mutex<[MaintenanceRecord]>([])
        func add(_ record: MaintenanceRecord) { kept.withLock { $0.append(record) } }
        var all: [MaintenanceRecord] { kept.withLock { $0 } }
    }

    @Test("Each app's maintenance runs again and again, begins within an interval, and is told of")
    func runs() async throws {
        let scene = try Scene(["every: 60s", "every: 60s", ""])
        try await scene.run {
            try await scene.pass { scene.records.all.count >= 2 }
            #expect(Set(scene.records.all.map(\.resource)).count == 2)
            try await scene.pass { scene.records.all.count >= 6 }
        }
        let record = try #require(scene.records.all.first)
        #expect(record.kind == .provider && record.plugin == "caring")
        #expect(record.resource.hasPrefix("projects/77/apps/1:77:ios:a"))
        #expect(record.outcome == .succeeded)
        #expect(record.counts == [MaintenanceEvent("cared"): 1])
        #expect(Set(scene.records.all.map(\.resource)).count == 2, "the third has no maintenance")
    }

    @Test("A provider with two methods, and an app with two names, has its maintenance once")
    func once() throws {
        #expect(try Scene(["every: 60s"]).engine.maintenance.entries.count == 1)
        #expect(try Scene([""]).engine.maintenance.entries.isEmpty)
    }

    @Test("A run that fails is told of, and comes later and later; the others continue")
    func failure() async throws {
        let scene = try Scene(["every: 10s, word: throws", "every: 10s"])
        try await scene.run {
            try await scene.pass { scene.records.all.count { $0.outcome == .succeeded } >= 15 }
        }
        let failures = scene.records.all.filter { $0.outcome != .succeeded }
        #expect(failures.first?.outcome == .failed("as the test wants it"))
        #expect((2...6).contains(failures.count), "15 runs of 10 s, and pauses of 20, 40, 80 s… or half of them")
    }

    @Test("A run that takes longer than it may is cancelled and told of")
    func timeout() async throws {
        let scene = try Scene(["every: 10s, word: hangs"])
        try await scene.run {
            try await scene.pass { scene.records.all.count >= 1 }
        }
        #expect(scene.records.all.first?.outcome == .timedOut)
    }

    @Test("A run may ask for a pause, and is not followed by another before it is over; a day at most is obeyed")
    func pause() async throws {
        let scene = try Scene(["every: 10s, word: pauses"])
        try await scene.run {
            try await scene.pass { scene.records.all.count >= 2 }
        }
        #expect(scene.records.all.first?.outcome == .failed("not for a while"))
        #expect(scene.clock.hostClock.uptime >= .seconds(900))
        let schedule = MaintenanceSchedule(randomness: .system, round: .seconds(10), longestPause: .seconds(60))
        let list = scene.engine.maintenance
        _ = schedule.next(list, at: .zero)
        guard case .run(let entry) = schedule.next(list, at: .seconds(11)) else {
            Issue.record("nothing is due")
            return
        }
        #expect(
            schedule.finished(entry, failed: true, at: .zero, least: .seconds(1_000_000)) == .seconds(86_400))
    }

    @Test("No more runs are under way than allowed, and cancellation ends those that are")
    func concurrency() async throws {
        let scene = try Scene(Array(repeating: "every: 1s, word: stays", count: 9))
        try await scene.run(concurrency: 3) {
            try await scene.pass(workers: 3) { scene.begun.count >= 3 }
            for _ in 0..<10 {
                scene.clock.advance(by: .seconds(1))
                await Task.yield()
            }
            #expect(scene.begun.count == 3)
        }
        #expect(scene.records.all.isEmpty, "what was cancelled has not failed")
    }

    @Test("After a change of policies the new instances are cared for, and no longer the old ones")
    func reload() async throws {
        let scene = try Scene(["every: 10s, word: old"])
        try await scene.run {
            try await scene.pass { scene.records.all.count >= 1 }
            try scene.engine.replacePolicies(Scene.policies(scene.project, ["every: 10s, word: new", "every: 10s"]))
            try await scene.pass { Set(scene.records.all.map(\.resource)).count == 2 }
            try await scene.pass { scene.begun.contains("new") }
            try scene.engine.replacePolicies(Scene.policies(scene.project, [""]))
            let before = scene.begun.count
            for _ in 0..<60 {
                scene.clock.advance(by: .seconds(1))
                try await Task.sleep(for: .microseconds(200))
            }
            #expect(scene.begun.count <= before + 2, "a run that was due when they changed")
        }
        let words = scene.begun
        let first = try #require(words.firstIndex(of: "new"))
        #expect(!words[first...].contains("old"))
    }

    @Test("What maintenance writes is what calls of the same provider and app see")
    func state() async throws {
        let scene = try Scene(["every: 10s, word: writes"])
        try await scene.run {
            try await scene.pass { scene.records.all.count >= 1 }
        }
        #expect(await scene.store.get(StateKey("caring/projects/77/apps/1:77:ios:a0", "written")) == [1])
    }

    @Test("The apps of a large policy are spread over the interval")
    func spread() throws {
        let scene = try Scene(Array(repeating: "every: 100s", count: 1000))
        let schedule = MaintenanceSchedule(randomness: .seeded(1), round: .seconds(10), longestPause: .seconds(3600))
        let list = scene.engine.maintenance
        guard case .wait = schedule.next(list, at: .zero) else {
            Issue.record("one begins at once")
            return
        }
        var perTenth: [Int] = []
        for tenth in 1...10 {
            var count = 0
            while case .run(let entry) = schedule.next(list, at: .seconds(tenth * 10)) {
                schedule.finished(entry, failed: false, at: .seconds(tenth * 10))
                count += 1
            }
            perTenth.append(count)
        }
        #expect(perTenth.allSatisfy { (40...200).contains($0) }, "\(perTenth)")
    }

    @Test("An entry that is running is not begun again by a reload, nor forgotten by two")
    func reloadWhileRunning() throws {
        let scene = try Scene(["every: 10s"])
        let schedule = MaintenanceSchedule(randomness: .system, round: .seconds(10), longestPause: .seconds(3600))
        let (full, same, none) = (
            scene.engine.maintenance, MaintenanceList(scene.engine.maintenance.entries),
            MaintenanceList([MaintenanceEntry]())
        )
        func runs(_ list: MaintenanceList, _ seconds: Int) -> MaintenanceEntry? {
            if case .run(let entry) = schedule.next(list, at: .seconds(seconds)) { entry } else { nil }
        }
        #expect(runs(full, 0) == nil)
        let entry = try #require(runs(full, 20))
        for list in [same, none, full, none, same] { #expect(runs(list, 100) == nil) }
        #expect(schedule.finished(entry, failed: false, at: .seconds(100)) != nil)
        #expect(runs(same, 120) != nil)
        #expect(runs(none, 120) == nil)
        #expect(schedule.finished(entry, failed: false, at: .seconds(121)) == nil, "nobody asks for it any more")
    }
}
