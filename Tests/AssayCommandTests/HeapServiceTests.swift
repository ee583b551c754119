import Testing

@testable import AssayServer

@Suite("Memory that listeners no longer need")
struct HeapServiceTests {
    @Test("Memory is given back once when much less is held than before, and at no other time")
    func passes() {
        let enough = MemoryPeak.worthwhile
        var peak = MemoryPeak()
        let steps: [(held: Int, passed: Bool)] = [
            (0, false), (enough, false), (1, false), (0, true), (0, false), (5 * enough, false),
            (4 * enough + 1, false),
            (4 * enough, true), (3 * enough + 1, false), (6 * enough, false), (0, true), (0, false),
        ]
        for step in steps {
            #expect(peak.hasPassed(held: step.held) == step.passed, "\(step)")
        }
    }
}
