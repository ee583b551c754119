internal import AssayCore
internal import Synchronization

/// Makes the identifiers of decisions.
///
/// The random bytes of many are asked for at once, because each question to the system takes longer than all the rest of an
/// identifier. They are no secret.
final class DecisionIDs: Sendable {
    /// As many as the system gives with one question.
    private static let atOnce = 25

    private let randomness: Randomness
    private let bytes = Mutex<ArraySlice<UInt8>>([])

    init(_ randomness: Randomness) {
        self.randomness = randomness
    }

    /// A fresh identifier.
    func next(now: Instant) -> DecisionID {
        let random = bytes.withLock { bytes in
            if bytes.count < DecisionID.randomBytes {
                bytes = randomness.bytes(Self.atOnce * DecisionID.randomBytes)[...]
            }
            defer { bytes = bytes.dropFirst(DecisionID.randomBytes) }
            return bytes.prefix(DecisionID.randomBytes)
        }
        return DecisionID(now: now, random: random)
    }
}
