@testable import AssayServices
import AssayCore
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import AssayYAML
import Logging
import Testing

@testable import AssayEngine

@Suite("Maintenance and warnings of consumers")
struct ConsumerMaintenanceTests {
    /// A consumer that writes down in its state that its maintenance ran, and throws where its section says so.
    struct TidyConsumer: TokenConsumer {
        struct Configuration: Decodable, Sendable {
            let audience: String
            let every: Duration?
            let fails: Bool?
        }

        static let descriptor = PluginDescriptor.consumer(name: "tidy", summary: "Tidies.", reasons: [])
        static let methods: [ConsumerMethod<TidyConsumer>] = [
            .exchange { _, _, context in
                let written = try await context.state.get("written")
                return .granted(
                    ExchangedToken("written: \(written ?? [])", use: "N_A", lifetime: .seconds(60)))
            }
        ]

        let audiences: [String]
        let maintenance: Maintenance?
        let warnings: [ConfigurationWarning]

        init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) throws(ConfigurationError) {
            audiences = [configuration.audience]
            let fails = configuration.fails == true
            warnings = fails ? [ConfigurationWarning(at: ["fails"], "this is questionable")] : []
            maintenance = configuration.every.map { every in
                Maintenance(every: every) { context in
                    if fails { throw StateStoreOpeningError("nothing to tidy") }
                    let number = UInt8(context.project.number) ?? 0
                    try await context.state.put("written", value: [context.app == nil ? number : 255])
                    context.count(MaintenanceEvent("tidied"))
                }
            }
        }
    }

    private let clock = ManualClock()
    private let store: MemoryStore
    private let lines = RecordingLog()

    init() {
        store = MemoryStore(clock: clock.hostClock)
    }

    private func engine(_ sections: [String]) throws -> Engine {
        let projects = sections.enumerated().map { index, section in
            """
              - number: \(70 + index)
                id: project-\(index)
                apps: [{id: "1:\(70 + index):ios:a", providers: {vouch: {}}}]
                consumers: {tidy: {audience: "a\(index)", \(section)}}
            """
        }
        return try Engine(
            registry: Registry([.provider(VouchProvider.self), .consumer(TidyConsumer.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: "projects:\n" + projects.joined(separator: "\n"))]),
            keys: .pooled(),
            host: PluginHost(clock: clock.hostClock, store: store, logger: lines.logger))
    }

    /// Runs all maintenance until a number of runs have ended.
    private func run(_ engine: Engine, until count: Int) async -> [MaintenanceRecord] {
        let (records, continuation) = AsyncStream.makeStream(of: MaintenanceRecord.self)
        let running = Task {
            await engine.runMaintenance(MaintenanceOptions(concurrency: 1) { continuation.yield($0) })
        }
        let passing = Task { [clock] in
            while !Task.isCancelled {
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        var found: [MaintenanceRecord] = []
        for await record in records {
            found.append(record)
            if found.count == count { break }
        }
        running.cancel()
        passing.cancel()
        await running.value
        await passing.value
        return found
    }

    @Test("A consumer's maintenance runs for each project, and its record names both", .timeLimit(.minutes(20)))
    func runs() async throws {
        let records = await run(try engine(["every: 10s", "every: 10s", ""]), until: 6)
        #expect(records.allSatisfy { $0.kind == .consumer && $0.plugin == "tidy" && $0.outcome == .succeeded })
        #expect(records.allSatisfy { $0.counts == [MaintenanceEvent("tidied"): 1] })
        #expect(Set(records.map(\.resource)) == ["projects/70", "projects/71"], "the third has no maintenance")
    }

    @Test("What it writes is what calls of the same consumer and project see", .timeLimit(.minutes(20)))
    func state() async throws {
        let engine = try engine(["every: 10s", "every: 10s"])
        _ = await run(engine, until: 4)
        let spaces = engine.snapshot.policies.consumers.all("tidy").map(\.space).sorted()
        #expect(spaces == ["tidy/projects/70", "tidy/projects/71"])
        for (space, number) in zip(spaces, [70, 71] as [UInt8]) {
            #expect(await store.get(StateKey(space, "written")) == [number])
        }
    }

    @Test("A run that fails is recorded and logged with consumer and project", .timeLimit(.minutes(20)))
    func failure() async throws {
        let records = await run(try engine(["every: 10s, fails: true"]), until: 1)
        #expect(records.first?.outcome == .failed("nothing to tidy"))
        let line = try #require(lines.lines.first { $0.contains("maintenance failed") })
        #expect(line.contains("consumer=tidy") && line.contains("resource=projects/70"), "\(line)")
    }

    @Test("Warnings about a section are reported at its place")
    func warnings() throws {
        #expect(try engine(["every: 10s"]).policyWarnings == nil)
        let warnings = try engine(["fails: true"]).policyWarnings?.all.map { "\($0)" } ?? []
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("projects[0].consumers.tidy.fails") == true, "\(warnings)")
        #expect(warnings.first?.contains("questionable") == true)
    }
}
