internal import AssayKit
internal import Synchronization

/// What a provider seals and opens with while it appraises one piece of evidence.
final class CallSealer: Sendable {
    private let purpose: SealedPurpose
    private let keys: KeyPlan
    private let live: LiveSnapshot
    private let now: Instant
    private let randomness: Randomness
    private let failure = Mutex<KeyError?>(nil)

    init(purpose: SealedPurpose, keys: KeyPlan, live: LiveSnapshot, now: Instant, randomness: Randomness) {
        self.purpose = purpose
        self.keys = keys
        self.live = live
        self.now = now
        self.randomness = randomness
    }

    /// Why something could not be opened though it may be good: the key that it names is not known here, and whether it
    /// is stored could not be seen. A refusal that was based on it would cost a device its attested key.
    var undecided: KeyError? { failure.withLock { $0 } }

    func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        try keys.sealingKey(at: now).seal(plaintext, for: purpose, randomness: randomness)
    }

    func open(_ sealed: [UInt8]) -> [UInt8]? {
        if let plaintext = SealingKey.open(sealed, for: purpose, keys: keys.ring.sealing) { return plaintext }
        guard let id = SealingKey.identifier(of: sealed) else { return nil }
        do throws(KeyError) {
            guard let newer = try live.keys(toKnow: id, beyond: keys) else { return nil }
            return SealingKey.open(sealed, for: purpose, keys: newer.ring.sealing)
        } catch {
            failure.withLock { $0 = error }
            return nil
        }
    }
}
