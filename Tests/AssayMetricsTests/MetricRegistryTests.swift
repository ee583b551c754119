import AssayCore
import AssayKit
import AssayServer
import Testing

@Suite("The registry of metrics")
struct MetricRegistryTests {
    @Test("Whatever was not declared is counted as other, however many different values come")
    func other() throws {
        let registry = MetricRegistry()
        let metric = Metric.counter("hits_total", "Hits.", labels: [.init("who", ["me"]), .init("how", ["", "well"])])
        for number in 0..<1000 { registry.meter.add(to: metric, "\(number)", "\(number)") }
        registry.meter.add(to: metric, "me", "well")
        registry.meter.add(to: metric, "me", "")
        let page = try ExpositionPage(registry.page())
        #expect(page.families.flatMap(\.samples).count == 3)
        #expect(page["assay_hits_total", ["who": "other", "how": "other"]] == 1000)
        #expect(page["assay_hits_total", ["who": "me", "how": "well"]] == 1)
        #expect(page["assay_hits_total", ["who": "me", "how": ""]] == 1)
    }

    @Test("A counter is shown at 0 for all declared values, unless there are very many, or open ones")
    func fromTheStart() throws {
        let registry = MetricRegistry()
        let two = Metric.counter(
            "hits_total", "Hits.", labels: [.init("who", ["me", "you"]), .init("how", ["", "well"])])
        let many = Metric.counter("many_total", "Many.", labels: [.init("who", (0..<200).map { "\($0)" })])
        let open = Metric.counter("apps_total", "Apps.", labels: [.open("app", [""], atMost: 9)])
        for metric in [two, many, open, .gauge("heat", "Heat.", labels: [.init("who", ["me"])])] {
            try registry.declare(metric).showAll()
        }
        let samples = try ExpositionPage(registry.page()).families.flatMap(\.samples)
        #expect(samples.map(\.value) == [0, 0, 0, 0])
        registry.meter.add(to: two, "you", "well")
        #expect(try ExpositionPage(registry.page())["assay_hits_total", ["who": "you", "how": "well"]] == 1)
    }

    @Test("A fact in labels replaces the one before, however often it changes")
    func onlyFact() throws {
        let registry = MetricRegistry(maximumSeries: 3)
        let info = Metric.gauge(
            "policy_info", "Policies.", labels: [.open("revision", atMost: 4), .open("label", [""], atMost: 4)])
        let family = try registry.declare(info)
        for number in 0..<100 {
            family.setOnly(["r\(number)", number.isMultiple(of: 2) ? "" : "l\(number)"])
            let page = try ExpositionPage(registry.page())
            #expect(page.families.flatMap(\.samples).count == 1)
            let label = number.isMultiple(of: 2) ? "" : "l\(number)"
            #expect(page["assay_policy_info", ["revision": "r\(number)", "label": label]] == 1)
        }
    }

    @Test("There are never more series than the registry may have; those that are there continue")
    func limit() throws {
        let registry = MetricRegistry(maximumSeries: 3)
        let values = (0..<100).map { "\($0)" }
        let metric = Metric.counter("hits_total", "Hits.", labels: [.init("who", values)])
        for value in values + values { registry.meter.add(to: metric, value) }
        let samples = try ExpositionPage(registry.page()).families.flatMap(\.samples)
        #expect(samples.map(\.value) == [2, 2, 2])
    }

    @Test("A counter does not go down, a histogram is not set, and labels that are missing record nothing")
    func misuse() throws {
        let registry = MetricRegistry()
        let meter = registry.meter
        let counter = Metric.counter("hits_total", "Hits.", labels: [.init("who", ["me"])])
        meter.add(2, to: counter, "me")
        meter.add(-1, to: counter, "me")
        meter.add(.nan, to: counter, "me")
        meter.set(9, of: counter, "me")
        meter.observe(9, in: counter, "me")
        meter.add(to: counter)
        meter.add(to: counter, "me", "you")
        let histogram = Metric.histogram("wait_seconds", "Waits.")
        meter.observe(.milliseconds(20), in: histogram)
        meter.set(1, of: histogram)
        meter.add(1, to: histogram)
        let page = try ExpositionPage(registry.page())
        #expect(page["assay_hits_total", ["who": "me"]] == 2)
        #expect(page["assay_wait_seconds_count"] == 1)
        #expect(page["assay_wait_seconds_sum"] == 0.02)
    }

    @Test("Each plugin has names of its own, and one name has one declaration")
    func scopes() throws {
        let registry = MetricRegistry()
        let one = Metric.counter("calls_total", "Calls.")
        registry.meter.scoped(to: "first").add(to: one)
        registry.meter.scoped(to: "second").add(2, to: .gauge("calls_total_of_another_kind", "Calls."))
        registry.meter.scoped(to: "first").add(to: .counter("calls_total", "Other calls."))
        let page = try ExpositionPage(registry.page())
        #expect(page["assay_first_calls_total"] == 1)
        #expect(page["assay_second_calls_total_of_another_kind"] == 2)
        #expect(throws: MetricError.self) { try registry.declare(.counter("first_calls_total", "Other calls.")) }
        try registry.declare(.histogram("wait", "Waits."))
        #expect(throws: MetricError.self) { try registry.declare(.histogram("wait", "Waits."), scope: "x y") }
    }

    @Test(
        "A declaration that the formats do not allow is refused",
        arguments: [
            Metric.counter("hits", "No ending."), .gauge("hits_total", "A counter's ending."), .gauge("", "No name."),
            .gauge("Hits", "A capital."), .gauge("hits__all", "Two underscores."), .gauge("1hit", "A digit first."),
            .gauge("hits\n", "A line end."), .gauge("hits_count", "A histogram's ending."), .histogram("a_info", "."),
            .gauge("hits", "A reserved label.", labels: [.init("le", ["1"])]),
            .gauge("hits", "A reserved label.", labels: [.init("__name", ["1"])]),
            .gauge("hits", "A label twice.", labels: [.init("a", ["1"]), .init("a", ["2"])]),
            .gauge("hits", "A long value.", labels: [.init("a", [String(repeating: "x", count: 129)])]),
            .gauge("hits", "Many values.", labels: [.init("a", (0...4096).map { "\($0)" })]),
            .gauge(
                "hits", "Very many sets of values.",
                labels: (0..<6).map { number in .init("a\(number)", (0..<4000).map { "\($0)" }) }),
            .histogram("wait", "No buckets.", buckets: []), .histogram("wait", "Falling.", buckets: [2, 1]),
            .histogram("wait", "Not finite.", buckets: [1, .infinity]),
            .histogram("wait", "Too many.", buckets: (0..<65).map(Double.init)),
        ])
    func malformed(_ metric: Metric) throws {
        let registry = MetricRegistry()
        #expect(throws: MetricError.self) { try registry.declare(metric) }
        registry.meter.set(1, of: metric, "1")
        registry.meter.add(1, to: metric)
        #expect(registry.page().isEmpty)
    }

    @Test("Nothing is lost when many record at once, and pages are whole all the while")
    func concurrency() async throws {
        let registry = MetricRegistry()
        let counter = Metric.counter("hits_total", "Hits.", labels: [.init("who", ["0", "1", "2"])])
        let histogram = Metric.histogram("wait_seconds", "Waits.", buckets: [0.5, 1])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<1000 {
                        registry.meter.add(to: counter, "\(task % 4)")
                        registry.meter.observe(Double(round % 3) / 2, in: histogram)
                    }
                }
            }
            group.addTask { for _ in 0..<50 { _ = try ExpositionPage(registry.page()) } }
            try await group.waitForAll()
        }
        let page = try ExpositionPage(registry.page())
        for who in ["0", "1", "2", "other"] { #expect(page["assay_hits_total", ["who": who]] == 2000) }
        #expect(page["assay_wait_seconds_count"] == 8000)
    }
}
