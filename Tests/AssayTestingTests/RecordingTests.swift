import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("Doubles of what a kernel gives to plugins")
struct RecordingTests {
    @Test("Without a kernel no token is signed, known or judged, and the caller may try again")
    func noTokens() async throws {
        let tokens = NoTokens()
        #expect(tokens.own("a.b.c") == nil)
        let signing = #expect(throws: CallFailure.self) { try tokens.sign(type: "t", claims: [:]) }
        #expect(signing?.status == .unavailable)
        let inspecting = await #expect(throws: CallFailure.self) { try await tokens.inspect("a", TokenDemand()) }
        #expect(inspecting?.status == .unavailable)
        let looking = await #expect(throws: CallFailure.self) { try await tokens.look(at: "a", TokenDemand()) }
        #expect(looking?.status == .unavailable)
    }

    @Test("Records are found by their decision, in the order in which they came")
    func records() {
        let sink = RecordingSink()
        for (index, text) in ["a", "b", "a"].enumerated() {
            sink.record(
                DecisionRecord(
                    decision: DecisionID(text: text), time: Instant(seconds: Int64(index)), duration: .zero,
                    method: "m",
                    resource: "", provider: nil, outcome: .answered, detail: nil, facts: [], peer: nil))
        }
        #expect(sink.records.map(\.decision.text) == ["a", "b", "a"])
        #expect(sink.record(of: DecisionID(text: "a"))?.time == Instant(seconds: 0))
        #expect(sink.record(of: DecisionID(text: "c")) == nil)
    }

    @Test("A seed gives the same bytes in whatever pieces they are taken")
    func seeded() {
        let (one, other) = (Randomness.seeded(7), Randomness.seeded(7))
        #expect(one.bytes(3) + one.bytes(0) + one.bytes(5) == other.bytes(8))
        #expect(Randomness.seeded(8).bytes(8) != Randomness.seeded(7).bytes(8))
    }
}
