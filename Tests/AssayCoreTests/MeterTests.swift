import AssayCore
import Synchronization
import Testing

@Suite("Recording to a meter")
struct MeterTests {
    private final class Recorded: Sendable {
        let lines = Mutex<[String]>([])

        var meter: Meter {
            Meter { scope, metric, change, labels in
                self.lines.withLock { $0.append("\(scope)\(metric.name)\(labels) \(change)") }
            }
        }
    }

    private let recorded = Recorded()

    @Test("Each way of recording arrives as what it is, with its labels in their order")
    func changes() {
        let meter = recorded.meter
        meter.add(to: .counter("a_total", "A."), "x", "y")
        meter.add(-2.5, to: .gauge("b", "B."))
        meter.set(7, of: .gauge("b", "B."))
        meter.observe(.milliseconds(1500), in: .histogram("c_seconds", "C."))
        meter.observe(0.25, in: .histogram("c_seconds", "C."), "z")
        #expect(
            recorded.lines.withLock { $0 } == [
                "a_total[\"x\", \"y\"] add(1.0)", "b[] add(-2.5)", "b[] set(7.0)", "c_seconds[] observe(1.5)",
                "c_seconds[\"z\"] observe(0.25)",
            ])
    }

    @Test("A plugin's meter has its name as a prefix, and what modules share has none, whoever records it")
    func scopes() {
        let plugin = recorded.meter.scoped(to: "app_attest")
        plugin.set(1, of: .gauge("a", "A."))
        plugin.scoped(to: "inner").set(1, of: .gauge("a", "A."))
        plugin.unscoped.set(1, of: .gauge("a", "A."))
        Meter.none.scoped(to: "x").set(1, of: .gauge("a", "A."))
        #expect(
            recorded.lines.withLock { $0 } == [
                "app_attest_a[] set(1.0)", "app_attest_inner_a[] set(1.0)", "a[] set(1.0)",
            ])
    }

    @Test("A label never has fewer than no values at run time")
    func openLabels() {
        #expect(Metric.Label.open("app", atMost: -1).openValues == 0)
        #expect(Metric.Label.open("app", ["a"], atMost: 5) != Metric.Label("app", ["a"]))
    }
}

@Suite("What is compared by its bytes within other values")
struct ExactlyHashableTests {
    private struct Names: Hashable {
        @Exact var one: String?
        @Exact var many: [String]
        @Exact var deep: [[String]?]
    }

    private let composed = "\u{E9}"
    private let decomposed = "e\u{301}"

    @Test("Optional texts and lists of them differ where a byte of them differs, or their shape")
    func differs() {
        let names: Set<Names> = [
            Names(one: composed, many: [], deep: []), Names(one: decomposed, many: [], deep: []),
            Names(one: nil, many: [], deep: []), Names(one: "", many: [], deep: []),
            Names(one: nil, many: [""], deep: []),
            Names(one: nil, many: ["", ""], deep: []), Names(one: nil, many: [composed], deep: []),
            Names(one: nil, many: [decomposed], deep: []), Names(one: nil, many: [], deep: [nil]),
            Names(one: nil, many: [], deep: [[]]), Names(one: nil, many: [], deep: [[composed]]),
            Names(one: nil, many: [], deep: [[decomposed]]), Names(one: nil, many: ["ab", "c"], deep: []),
            Names(one: nil, many: ["a", "bc"], deep: []),
        ]
        #expect(names.count == 14)
    }

    @Test("Equal values have equal hashes, however they came to be")
    func same() {
        let left = Names(one: "a\("b")", many: ["\u{65}\u{301}"], deep: [["x"], nil])
        let right = Names(one: "ab", many: [decomposed], deep: [["x"], nil])
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
    }

    @Test("Levels of enforcement are ordered by how strict they are")
    func enforcement() {
        #expect(EnforcementMode.allCases.shuffled().sorted() == [.off, .unenforced, .enforced])
    }
}
