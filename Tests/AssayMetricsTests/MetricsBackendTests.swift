import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServer
import AssayServices
import CoreMetrics
import Logging
import MetricsTestKit
import Synchronization
import Testing

@Suite("Metrics in a backend of swift-metrics")
struct MetricsBackendTests {
    private let backend = TestMetrics()
    private let registry: MetricRegistry

    init() {
        registry = MetricRegistry(forwardingTo: backend)
    }

    @Test("The decision of an engine arrives in an embedder's backend, with the names and labels of the page")
    func decision() async throws {
        let secret = "b0c8e0b0-5f0a-4b7e-9f0e-0123456789ab"
        let policy = PolicyFile(
            name: "policy.yaml",
            text: """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        providers: {debug: {tokens: [{name: example, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}}
                """)
        let plugins = try Registry([.provider(DebugProvider.self)])
        let decisions = try DecisionMetrics(
            methods: plugins.methods.map { .init($0.name, provider: plugins.provider(of: $0.name)) },
            providers: plugins.providerNames, reasons: plugins.reasons, in: registry)
        let engine = try Engine(
            registry: plugins, policies: .load([policy]), keys: .ephemeral(),
            host: PluginHost(
                store: MemoryStore(clock: .system), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                meter: registry.meter),
            sink: decisions)
        let app = "1:1234567890:ios:321abc456def7890"
        for secret in [secret, "b0c8e0b0-5f0a-4b7e-9f0e-ba9876543210"] {
            _ = await engine.handle(
                Call(
                    "exchangeDebugToken", resource: "projects/example-project/apps/\(app)",
                    body: ["debugToken": .string(secret)]))
        }
        func count(_ outcome: String, _ reason: String) throws -> Int64 {
            try backend.expectCounter(
                "assay_decisions_total",
                [
                    ("method", "exchangeDebugToken"), ("provider", "debug"), ("outcome", outcome), ("reason", reason),
                    ("app", app),
                ]
            ).totalValue
        }
        #expect(try count("issued", "") == 1)
        #expect(try count("refused", "debug_token_unknown") == 1)
        let timer = try backend.expectTimer(
            "assay_decision_duration_seconds", [("method", "exchangeDebugToken"), ("outcome", "issued")])
        // Nanoseconds, which is what timers of the façade are given.
        #expect(timer.values.count == 1)
        #expect(try #require(timer.values.first) > 1000)
    }

    @Test("Counters, gauges and histograms become what the façade has for them")
    func kinds() throws {
        let meter = registry.meter.scoped(to: "debug")
        let counter = Metric.counter("hits_total", "Hits.", labels: [.init("who", ["me"])])
        meter.add(2, to: counter, "me")
        meter.add(3, to: counter, "a stranger")
        meter.add(4, to: counter, "another stranger")
        meter.add(-1, to: counter, "me")
        #expect(try backend.expectCounter("assay_debug_hits_total", [("who", "me")]).totalValue == 2)
        #expect(try backend.expectCounter("assay_debug_hits_total", [("who", "other")]).totalValue == 7)
        #expect(backend.counters(label: "assay_debug_hits_total").count == 2, "label values are bounded")

        let gauge = Metric.gauge("connections", "Connections.")
        meter.set(5, of: gauge)
        meter.add(2, to: gauge)
        meter.add(-3, to: gauge)
        #expect(try backend.expectMeter("assay_debug_connections").lastValue == 4)

        meter.observe(.milliseconds(20), in: .histogram("wait_seconds", "Waits."))
        #expect(try backend.expectTimer("assay_debug_wait_seconds").values == [20_000_000])
        meter.observe(1e300, in: .histogram("age_seconds", "Ages."))
        #expect(try backend.expectTimer("assay_debug_age_seconds").values == [.max])
        meter.observe(512, in: .histogram("size_bytes", "Sizes.", buckets: [100, 1000]))
        let recorder = try backend.expectRecorder("assay_debug_size_bytes")
        #expect(recorder.values == [512])
        #expect(recorder.aggregate)
    }

    @Test("Values that are read for a page reach a backend that has none")
    func refresh() throws {
        let seconds = try registry.declare(.counter("busy_seconds_total", "Time."), isStandard: true).series([])
        let connections = try registry.declare(.gauge("connections", "Connections.")).series([])
        let total = Total()
        registry.beforeEachPage {
            seconds?.mirror(total.next(3))
            connections?.set(7)
        }
        registry.refresh()
        registry.refresh()
        #expect(try backend.expectCounter("busy_seconds_total").totalValue == 6)
        #expect(try backend.expectMeter("assay_connections").lastValue == 7)
    }

    private final class Total: Sendable {
        private let value = Mutex(0.0)

        func next(_ amount: Double) -> Double {
            value.withLock { value in
                value += amount
                return value
            }
        }
    }

    @Test("A registry whose backend records in it again does not stop")
    func loop() throws {
        let registry = MetricRegistry(forwardingTo: Late.shared)
        Late.shared.registry.withLock { $0 = LibraryMetrics(in: registry) }
        registry.meter.set(1, of: .gauge("connections", "Connections."))
        let page = try ExpositionPage(registry.page())
        #expect(page["assay_connections"] == 1)
        #expect(page["library_assay_connections"] == 1)
    }
}

/// A backend that is there before its registry.
private final class Late: MetricsFactory {
    static let shared = Late()
    let registry = Mutex<LibraryMetrics?>(nil)

    private var backend: any MetricsFactory { registry.withLock { $0 } ?? NOOPMetricsHandler.instance }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        backend.makeCounter(label: label, dimensions: dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        backend.makeMeter(label: label, dimensions: dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        backend.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        backend.makeTimer(label: label, dimensions: dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
