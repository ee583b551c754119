import AssayCore
import Testing

@Suite("Randomness")
struct RandomnessTests {
    @Test("As many bytes come as are asked for", arguments: [0, 1, 7, 8, 9, 32, 255, 256, 257, 1000])
    func count(_ count: Int) {
        #expect(Randomness.system.bytes(count).count == count)
    }

    @Test(
        "All of the bytes are random: no place keeps its value, and nothing comes twice",
        arguments: [16, 32, 256, 300])
    func everyPlace(_ count: Int) {
        let draws = (0..<24).map { _ in Randomness.system.bytes(count) }
        #expect(Set(draws).count == draws.count)
        // That a good generator fails here for any of 300 places has a chance of 1 to 2^175.
        for place in 0..<count {
            #expect(Set(draws.map { $0[place] }).count > 1, "byte \(place)")
        }
    }
}
