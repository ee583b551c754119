import AssayCore
import AssayKit
import AssayServer
import Testing

@Suite("The page of metrics")
struct ExpositionTests {
    private static let hostile = "a\"b\\c\nd{}=, é\u{202E}"

    private static func registry() throws -> MetricRegistry {
        let registry = MetricRegistry()
        let counter = try registry.declare(
            .counter(
                "hits_total", "Back\\slash, \"quotes\"\nand a second line.", labels: [.init("who", ["me", hostile])]))
        counter.series(["me"])?.add(3)
        counter.series([hostile])?.add(0.5)
        try registry.declare(.gauge("heat", "How hot it is.")).series([])?.set(-12.25)
        let histogram = try registry.declare(
            .histogram("wait_seconds", "How long it took.", labels: [.init("who", ["me"])], buckets: [0.001, 1, 10]))
        for value in [0.0005, 0.001, 0.0011, 10, 11, .infinity, .nan] { histogram.series(["me"])?.observe(value) }
        try registry.declare(.counter("nothing_total", "Nobody counted.", labels: [.init("who", ["me"])]))
        return registry
    }

    @Test("A strict reader gets back what was recorded, in both formats", arguments: ExpositionFormat.allCases)
    func roundTrip(_ format: ExpositionFormat) throws {
        let isOpen = format == .openMetrics
        let page = try ExpositionPage(Self.registry().page(format), isOpenMetrics: isOpen)
        #expect(
            page.families.map(\.name) == [
                "assay_heat", isOpen ? "assay_hits" : "assay_hits_total", "assay_wait_seconds",
            ])
        #expect(page.families.map(\.type) == ["gauge", "counter", "histogram"])
        #expect(page.families[1].help == "Back\\slash, \"quotes\"\nand a second line.")
        #expect(page["assay_heat"] == -12.25)
        #expect(page["assay_hits_total", ["who": "me"]] == 3)
        #expect(page["assay_hits_total", ["who": Self.hostile]] == 0.5)
    }

    @Test(
        "A carriage return is written as a space, for some readers end lines there",
        arguments: ExpositionFormat.allCases, ["a\rb", "\"a\rb\"", "\r\n"])
    func carriageReturn(_ format: ExpositionFormat, _ text: String) throws {
        let registry = MetricRegistry()
        try registry.declare(.counter("hits_total", text, labels: [.init("who", [text])])).series([text])?.add()
        let bytes = registry.page(format)
        #expect(!bytes.contains(0x0D))
        let page = try ExpositionPage(bytes, isOpenMetrics: format == .openMetrics)
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\r" ? " " : $0 }))
        #expect(page.families.first?.help == shown)
        #expect(page["assay_hits_total", ["who": shown]] == 1)
    }

    @Test("A value on the bound of a bucket lies within it, and what is not finite in none")
    func buckets() throws {
        let page = try ExpositionPage(Self.registry().page())
        func bucket(_ bound: String) -> Double? { page["assay_wait_seconds_bucket", ["who": "me", "le": bound]] }
        #expect(bucket("0.001") == 2)
        #expect(bucket("1.0") == 3)
        #expect(bucket("10.0") == 4)
        #expect(bucket("+Inf") == 5)
        #expect(page["assay_wait_seconds_count", ["who": "me"]] == 5)
        let sum = try #require(page["assay_wait_seconds_sum", ["who": "me"]])
        #expect(abs(sum - 21.0026) < 1e-9)
    }

    @Test("An empty registry has an empty page", arguments: ExpositionFormat.allCases)
    func empty(_ format: ExpositionFormat) {
        #expect(
            String(decoding: MetricRegistry().page(format), as: UTF8.self) == (format == .openMetrics ? "# EOF\n" : ""))
    }

    @Test(
        "OpenMetrics is written to those who ask for it in its version 1.0.0",
        arguments: [
            ("", false), ("*/*", false), ("text/plain;version=0.0.4", false), ("application/openmetrics-text", true),
            ("application/openmetrics-text; version=1.0.0; charset=utf-8", true),
            ("text/plain, APPLICATION/OpenMetrics-Text;version=\"1.0.0\"", true),
            ("application/openmetrics-text;version=2.0.0", false), ("application/openmetrics-text;q=0", false),
            ("application/openmetrics-text;version=0.0.1;q=0.75,text/plain", false),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;"
                    + "version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1", true
            ),
        ])
    func negotiation(_ accept: String, _ isOpen: Bool) {
        #expect(ExpositionFormat(accept: accept) == (isOpen ? .openMetrics : .prometheusText))
    }

    @Test("The process and the build describe themselves under their usual names")
    func process() throws {
        let registry = MetricRegistry()
        try ProcessMetrics.add(to: registry)
        try BuildMetrics.add(to: registry)
        let page = try ExpositionPage(registry.page())
        #expect(page["assay_build_info", ["version": AssayVersion.text]] == 1)
        #expect(try #require(page["process_cpu_seconds_total"]) > 0)
        #expect(try #require(page["process_max_fds"]) > 0)
        #if os(Linux)
        let now = Double(HostClock.system.now.seconds)
        #expect(try #require(page["process_open_fds"]) > 2)
        #expect(try #require(page["process_resident_memory_bytes"]) > 1_000_000)
        #expect(try #require(page["process_virtual_memory_bytes"]) > 1_000_000)
        #expect((now - 86_400...now + 60).contains(try #require(page["process_start_time_seconds"])))
        #endif
    }

    @Test("What is known of the policies follows their loading")
    func policies() throws {
        let registry = MetricRegistry()
        let policies = PolicyMetrics(registry.meter)
        policies.loaded(apps: 7, oauthClients: 2, at: Instant(milliseconds: 1_795_262_400_500))
        policies.reloadFailed()
        let page = try ExpositionPage(registry.page())
        #expect(page["assay_policy_apps"] == 7)
        #expect(page["assay_policy_oauth_clients"] == 2)
        #expect(page["assay_policy_last_load_success_timestamp_seconds"] == 1_795_262_400.5)
        #expect(page["assay_policy_last_reload_successful"] == 0)
        policies.loaded(apps: 8, oauthClients: 3, at: Instant(seconds: 1_795_262_401))
        #expect(try ExpositionPage(registry.page())["assay_policy_last_reload_successful"] == 1)
    }
}
