import AssayCore
import AssayKit
import Testing

@Suite("Readiness")
struct ReadinessTests {
    @Test("Of several parts the worst counts, with the reasons of all parts that are as bad")
    func combined() {
        #expect(Readiness.combined([]) == .ready)
        #expect(Readiness.combined([.ready, .ready]) == .ready)
        #expect(Readiness.combined([.degraded("a"), .ready, .degraded("b")]) == .degraded("a; b"))
        #expect(Readiness.combined([.degraded("a"), .notReady("b"), .notReady("c")]) == .notReady("b; c"))
    }

    @Test("Two are the same by their kind and by the bytes of their reasons")
    func equality() {
        #expect(Readiness.degraded("a") != .notReady("a"))
        #expect(Readiness.degraded("a") != .ready)
        #expect(Readiness.notReady("\u{E9}") != .notReady("e\u{301}"))
        #expect(Readiness.notReady("a") == .notReady("a"))
    }
}
