internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Synchronization

/// The sealing and opening of a provider while it appraises one piece of evidence.
final class CallSealer: Sendable {
    private let purpose: SealedPurpose
    private let keys: KeyPlan
    private let live: LiveSnapshot
    private let now: Instant
    private let randomness: Randomness
    private let failure = Mutex<KeyError?>(nil)
    /// What could not be opened because it names an unknown key.
    private let missing = Mutex<[UInt8]?>(nil)
    private let revoked = Mutex<String?>(nil)

    init(purpose: SealedPurpose, keys: KeyPlan, live: LiveSnapshot, now: Instant, randomness: Randomness) {
        self.purpose = purpose
        self.keys = keys
        self.live = live
        self.now = now
        self.randomness = randomness
    }

    /// Why something could not be opened although it may be valid: this server does not have the key that it names, and
    /// could not check whether the key is stored.
    ///
    /// Refusing it would cost a device its attested key.
    var undecided: KeyError? { failure.withLock { $0 } }

    func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        try keys.sealingKey(at: now).seal(plaintext, for: purpose, randomness: randomness)
    }

    func open(_ sealed: [UInt8]) -> [UInt8]? {
        if let plaintext = SealingKey.open(sealed, for: purpose, keys: keys.openers) { return plaintext }
        guard let id = SealingKey.identifier(of: sealed) else { return nil }
        guard !keys.knows(id) else {
            if let words = keys.revocation(of: id) { revoked.withLock { $0 = words } }
            return nil
        }
        let present = live.snapshot.keys
        guard !present.knows(id) else { return SealingKey.open(sealed, for: purpose, keys: present.openers) }
        missing.withLock { $0 = sealed }
        return nil
    }

    /// Why something could not be opened that a revoked key has sealed.
    var revocation: String? { revoked.withLock { $0 } }

    /// What could not be opened because it names an unknown key: ``learn()`` finds out whether the key is stored.
    var unopened: [UInt8]? { missing.withLock { $0 } }

    /// Finds out whether the key is stored by now that something names which could not be opened: if so, it opens.
    ///
    /// Keys may have to be read from a file: not while a plugin opens something, on the thread of a connection.
    func learn() async throws -> Bool {
        guard let id = missing.withLock({ $0.take() }).flatMap(SealingKey.identifier(of:)) else { return false }
        do {
            return try await live.keys(toKnow: id, beyond: keys) != nil
        } catch let error as KeyError {
            failure.withLock { $0 = error }
            return false
        }
    }
}
