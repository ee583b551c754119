import AssayCore
import AssayServer
import CoreMetrics
import MetricsTestKit
import Testing

@Suite("Metrics of libraries on our page")
struct LibraryMetricsTests {
    private let registry = MetricRegistry()
    private let libraries: LibraryMetrics

    init() {
        libraries = LibraryMetrics(in: registry)
    }

    private func page(_ format: ExpositionFormat = .prometheusText) throws -> ExpositionPage {
        try ExpositionPage(registry.page(format), isOpenMetrics: format == .openMetrics)
    }

    private func refused(_ cause: String) throws -> Double? {
        try page()["assay_library_metrics_refused_total", ["cause": cause]]
    }

    @Test("Each kind of the façade is the kind of the format that means the same")
    func kinds() throws {
        Counter(label: "pool.requests", dimensions: [("host", "a")], factory: libraries).increment(by: 3)
        FloatingPointCounter(label: "pool.requests", dimensions: [("host", "a")], factory: libraries).increment(by: 0.5)
        let open = CoreMetrics.Meter(label: "pool.openConnections", factory: libraries)
        open.set(5)
        open.decrement(by: 2.0)
        Gauge(label: "pool_size", factory: libraries).record(8)
        Recorder(label: "rows", factory: libraries).record(100)
        let timer = Timer(label: "query", factory: libraries)
        timer.recordMilliseconds(20)
        timer.recordNanoseconds(1_000_000)
        for format in ExpositionFormat.allCases {
            let page = try page(format)
            #expect(page["pool_requests_total", ["host": "a"]] == 3.5)
            #expect(page["pool_open_connections"] == 3)
            #expect(page["pool_size"] == 8)
            #expect(page["rows_sum"] == 100)
            #expect(page["rows_bucket", ["le": "64.0"]] == 0)
            #expect(page["rows_bucket", ["le": "256.0"]] == 1)
            #expect(page["query_seconds_count"] == 2)
            #expect(abs((page["query_seconds_sum"] ?? 0) - 0.021) < 1e-9)
            #expect(page["query_seconds_bucket", ["le": "0.001"]] == 1)
        }
        #expect(try page().families.first { $0.name == "query_seconds" }?.help == "Recorded by a library.")
    }

    @Test("A counter that a library sets back begins again, and stays when it is destroyed")
    func reset() throws {
        let counter = Counter(label: "hits", factory: libraries)
        counter.increment(by: 3)
        counter.reset()
        counter.increment()
        counter.destroy()
        #expect(try page()["hits_total"] == 1)
    }

    @Test(
        "A name is written by the rules of the formats",
        arguments: [
            ("http.server.requestCount", "http_server_request_count_value"), ("a/b c", "a_b_c"), ("__a--b__", "a_b"),
            ("4xx", "library_4xx"), ("HTTPServer", "httpserver"), ("a\n# TYPE b gauge\nb 1", "a_type_b_gauge_b_1"),
            ("é.a", "a"), ("x_total", "x_total_value"), ("x_info", "x_info_value"),
            ("assay_policy_apps", "library_assay_policy_apps"), ("process.open_fds", "library_process_open_fds"),
            (String(repeating: "a", count: 80), String(repeating: "a", count: 80)),
        ])
    func names(_ label: String, _ name: String) throws {
        Gauge(label: label, factory: libraries).record(1)
        for format in ExpositionFormat.allCases { #expect(try page(format)[name] == 1) }
    }

    @Test(
        "A name that cannot be written is refused and counted",
        arguments: [
            "", "...", "é", "\u{0}", String(repeating: "a", count: 81), String(repeating: "é", count: 1000),
        ])
    func noName(_ label: String) throws {
        Gauge(label: label, factory: libraries).record(1)
        Gauge(label: "a", dimensions: [(label, "b")], factory: libraries).record(1)
        #expect(try refused("name") == 1)
        #expect(try refused("labels") == 1)
        #expect(try page().families.map(\.name) == ["assay_library_metrics_refused_total"])
    }

    @Test("A library does not take the name of a metric of ours, whoever comes first")
    func ours() throws {
        let ours = AssayCore.Metric.counter("decisions_total", "Decisions.")
        Counter(label: "assay_decisions", factory: libraries).increment()
        registry.meter.add(5, to: ours)
        Counter(label: "assay.decisions.total", factory: libraries).increment()
        try registry.declare(.gauge("open_files", "A standard name."), isStandard: true)
        Gauge(label: "open_files", factory: libraries).record(9)
        let page = try page()
        #expect(page["assay_decisions_total"] == 5)
        #expect(page["library_assay_decisions_total"] == 2)
        #expect(page["open_files"] == 0)
        #expect(try refused("name") == 1)
    }

    @Test("The first decides the kind; another kind is refused and counted, also where only OpenMetrics has one name")
    func clashes() throws {
        Gauge(label: "a", factory: libraries).record(1)
        Recorder(label: "a", factory: libraries).record(1)
        Counter(label: "a", factory: libraries).increment()
        Recorder(label: "b", factory: libraries).record(1)
        Counter(label: "b_count", factory: libraries).increment()
        #expect(try refused("kind") == 1)
        #expect(try refused("name") == 2)
        for format in ExpositionFormat.allCases {
            #expect(try page(format)["a"] == 1)
            #expect(try page(format)["b_count"] == 1)
        }
    }

    @Test("A label that is left out has no value, a new one is refused, and the order does not matter")
    func labels() throws {
        let hits = { dimensions in Counter(label: "hits", dimensions: dimensions, factory: libraries).increment() }
        hits([("host", "a\"\n\\"), ("le", "1")])
        hits([("le", "1"), ("host", "a\"\n\\")])
        hits([("host", "b")])
        hits([("port", "1")])
        hits([("host", "a"), ("HOST", "b")])
        hits((0..<7).map { ("label\($0)", "") })
        let page = try page()
        #expect(page["hits_total", ["host": "a\"\n\\", "label_le": "1"]] == 2)
        #expect(page["hits_total", ["host": "b", "label_le": ""]] == 1)
        #expect(try refused("labels") == 3)
    }

    @Test("A flood of values is counted as other, and one of metrics or series as refused")
    func floods() throws {
        let libraries = LibraryMetrics(in: registry, maximumMetrics: 4, maximumSeries: 80)
        for number in 0..<1000 {
            Counter(label: "hits", dimensions: [("id", "\(number)")], factory: libraries).increment()
        }
        Counter(label: "hits", dimensions: [("id", String(repeating: "x", count: 1000))], factory: libraries)
            .increment()
        #expect(try page().families.flatMap(\.samples).count == 65)
        #expect(try page()["hits_total", ["id": "other"]] == 1000 - 64 + 1)
        for number in 0..<100 { Gauge(label: "gauge\(number)", factory: libraries).record(1) }
        #expect(try refused("metrics") == 97)
        for number in 0..<50 { Gauge(label: "gauge0", dimensions: [("a", "\(number)")], factory: libraries).record(1) }
        #expect(try refused("labels") == 50)
        for number in 0..<50 { Counter(label: "gauge\(number)", factory: libraries).increment() }
        #expect(try refused("metrics") == 97 + 50)
        #expect(try page().families.count == 5)
        // Ours have room anyway.
        registry.meter.set(1, of: .gauge("policy_apps", "Apps."))
        #expect(try page()["assay_policy_apps"] == 1)
    }

    @Test("There are never more series than libraries may have, and what is beyond is counted")
    func series() throws {
        let libraries = LibraryMetrics(in: registry, maximumSeries: 10)
        for number in 0..<50 {
            Timer(label: "wait", dimensions: [("id", "\(number)")], factory: libraries).recordSeconds(1)
        }
        #expect(try page().families.first { $0.name == "wait_seconds" }?.samples.count == 10 * (17 + 2))
        #expect(try refused("series") == 40)
    }

    @Test("Values that are no numbers are written as the formats write them, and do not spoil a counter")
    func values() throws {
        Gauge(label: "a", factory: libraries).record(Double.nan)
        Gauge(label: "b", factory: libraries).record(Double.infinity)
        let counter = FloatingPointCounter(label: "c", factory: libraries)
        for amount in [1, .infinity, .nan, -1] { counter.increment(by: amount) }
        Counter(label: "d", factory: libraries).increment(by: Int64.min)
        Timer(label: "e", factory: libraries).recordNanoseconds(.max)
        Recorder(label: "f", factory: libraries).record(-Double.infinity)
        let page = try page()
        #expect(page["a"]?.isNaN == true)
        #expect(page["b"] == .infinity)
        #expect(page["c_total"] == 1)
        #expect(page["d_total"] == 0)
        #expect(page["e_seconds_count"] == 1)
        #expect(page["f_count"] == 0)
    }

    @Test(
        "A program is bootstrapped once: the first registry shows what its libraries record, a second one its own only")
    func bootstrap() throws {
        let first = MetricRegistry.bootstrapped()
        let second = MetricRegistry.bootstrapped()
        Counter(label: "bootstrapped.hits").increment()
        second.meter.set(1, of: .gauge("connections", "Connections."))
        let (mine, other) = (try ExpositionPage(first.page()), try ExpositionPage(second.page()))
        #expect(mine["bootstrapped_hits_total"] == 1)
        #expect(mine["library_assay_connections"] == nil)
        #expect(other.families.map(\.name) == ["assay_connections"])
    }

    @Test("Where a program has a backend, its registry forwards to that")
    func foreignBackend() throws {
        let backend = TestMetrics()
        let registry = withMetricsFactory(backend) { MetricRegistry.bootstrapped() }
        registry.meter.set(4, of: .gauge("connections", "Connections."))
        #expect(try backend.expectMeter("assay_connections").lastValue == 4)
    }
}
