import Testing

@testable import AssayClient

@Suite("Any order of events")
struct LifecycleModelTests {
    @Test("100,000 random events break no rule", arguments: [1, 20_261_124] as [UInt64])
    func keepsRules(seed: UInt64) throws {
        var model = LifecycleModel(seed: seed)
        for step in 0..<50_000 {
            do {
                try model.step()
                if step % 5000 == 4999 { try model.settle() }
            } catch {
                Issue.record("step \(step) of seed \(seed): \(error)")
                return
            }
        }
        // The rules were put to the test.
        for (what, least) in [
            "session": 2000, "limitedUse": 1000, "refresh": 200, "answers": 3000, "errors": 2000, "late": 100,
        ] {
            #expect(model.counts[what, default: 0] >= least, "\(what) in \(model.counts)")
        }
        #expect(model.counts["restore"] == 1)
    }
}
