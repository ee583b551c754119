public import AssayCore
internal import Synchronization

extension Randomness {
    /// Bytes that a seed decides wholly, for tests that must make the same keys each time.
    ///
    /// Nothing made of them is secret.
    ///
    /// The generator is SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014).
    public static func seeded(_ seed: UInt64) -> Randomness {
        let generator = SeededGenerator(seed: seed)
        return Randomness { count in generator.bytes(count) }
    }
}

private final class SeededGenerator: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) {
        state = Mutex(seed)
    }

    func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                state &+= 0x9E37_79B9_7F4A_7C15
                var mixed = state
                mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
                return UInt8(truncatingIfNeeded: mixed ^ (mixed >> 31))
            }
        }
    }
}
