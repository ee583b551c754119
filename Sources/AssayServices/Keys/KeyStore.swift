public import AssayCore
package import AssayCrypto
public import AssayEngine
public import AssayKit
public import AssayPolicy
internal import Synchronization

/// The place where the keys of a service are kept: those that sign tokens, and those that seal artifacts.
///
/// Losing them is worse than losing state: clients of App Attest never recover from an artifact that does not open.
public final class KeyStore: KeySource {
    private enum Place: Sendable {
        case file(PrivateFile)
        case memory
        case vault(VaultedKeys)
    }

    /// What a store in memory holds.
    private struct Stored {
        var ring: KeyRing?
        var revision: Int64 = 0
    }

    private let place: Place
    private let held = Mutex(Stored())
    private let maker: SigningKeyMaker
    private let firstKeys: Mutex<Bool>

    private init(_ place: Place, maker: SigningKeyMaker = .fresh, allowsFirstKeys: Bool = true) {
        self.place = place
        self.maker = maker
        firstKeys = Mutex(allowsFirstKeys)
    }

    /// Keys in a folder: one file that only its owner may read; it is made when it is missing, and always replaced as a
    /// whole.
    ///
    /// Several processes may share the folder.
    public static func directory(_ path: String) -> KeyStore {
        KeyStore(.file(PrivateFile(directory: path, name: "keys.json")))
    }

    /// Keys in a vault, whose document is read first.
    ///
    /// What the vault held when it was last asked is known, so that reading keys is always fast; ``refresh()`` asks
    /// again. A change of keys waits for the vault on its thread: make it within ``perform(_:)``, as well as an engine,
    /// which makes the keys that its policies need.
    ///
    /// An engine asks for keys that are known to be the present ones: call ``refresh()`` and `Engine.reloadKeys()` every
    /// few seconds while it runs, as ``OpenKeys/run(for:every:clock:logger:)`` does. See `KeyAging.signingLimit`.
    ///
    /// A vault without keys may be the wrong one, or one that has lost them, so that an engine makes no first keys in it:
    /// see ``allowFirstKeys(_:)``.
    ///
    /// - Parameter name: what the vault is called in errors.
    public static func vault(
        _ vault: any KeyVault, name: String, clock: HostClock = .system
    ) async throws(KeyError) -> KeyStore {
        let keys = VaultedKeys(vault, name: name, clock: clock)
        _ = try await keys.refresh()
        return KeyStore(.vault(keys), allowsFirstKeys: false)
    }

    /// Sets whether an engine makes the first keys where none are stored: by default yes in a folder and in memory, and no
    /// in a vault.
    ///
    /// New keys in the place of lost ones shut out every device that was attested before. Where the keys or the state are
    /// shared by several servers, allow it for one start that an operator asked for, and never for a restart.
    public func allowFirstKeys(_ isAllowed: Bool = true) {
        firstKeys.withLock { $0 = isAllowed }
    }

    /// Whether keys are stored, as far as is known.
    ///
    /// - Throws: `KeyError` when they cannot be read.
    public var hasKeys: Bool {
        get throws(KeyError) { try read() != nil }
    }

    /// Makes the first keys: one that signs and one that seals.
    ///
    /// - Parameter kind: what signs; nil for RS256.
    /// - Throws: `KeyError` when there are keys already, as a refusal, or when they cannot be stored.
    public func makeFirstKeys(
        _ kind: TokenPolicy? = nil, now: Instant, randomness: Randomness = .system
    ) throws(KeyError) -> [KeyDescription] {
        let stored = try update { (ring) throws(KeyError) in
            guard ring.signing.isEmpty, ring.sealing.isEmpty else {
                throw KeyError(refusal: "there are keys already: none were made")
            }
            _ = try ring.complete(for: kind ?? TokenPolicy(), now: now, randomness: randomness)
            return true
        }
        return stored.ring.descriptions(at: now)
    }

    /// Reads a vault again if its document has changed.
    ///
    /// Returns whether it has; false for keys in a folder or in memory, which are always known.
    public func refresh() async throws(KeyError) -> Bool {
        guard case .vault(let keys) = place else { return false }
        return try await keys.refresh()
    }

    /// When the vault last answered, on a clock of its own; nil for keys in a folder or in memory.
    public var answered: Duration? {
        guard case .vault(let keys) = place else { return nil }
        return keys.answered
    }

    /// How long ago an answer of the vault was.
    public func age(of answer: Duration) -> Duration {
        guard case .vault(let keys) = place else { return .zero }
        return keys.age(of: answer)
    }

    /// Does something with the keys on a thread of its own, on which it may wait for a vault.
    public func perform<Value: Sendable>(
        _ body: @escaping @Sendable (KeyStore) throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        do {
            return try await OwnThread.run { try body(self) }
        } catch {
            throw error as? KeyError ?? KeyError("\(error)")
        }
    }

    /// The files that hold the keys, so that a caller can watch them for changes.
    ///
    /// None for keys in memory or in a vault.
    public var files: [String] {
        switch place {
        case .file(let file): [file.path]
        case .memory, .vault: []
        }
    }

    /// Where the keys are, for operators; nil for keys in memory.
    var placeName: String? {
        switch place {
        case .file(let file): file.path
        case .memory: nil
        case .vault(let keys): keys.name
        }
    }

    /// Whether the keys are in the state store.
    var isInState: Bool {
        if case .vault(let keys) = place { keys.isInState } else { false }
    }

    /// Keys that end with the process, for tests.
    public static func ephemeral() -> KeyStore {
        KeyStore(.memory)
    }

    /// Keys that end with the process, some of which are ready.
    ///
    /// - Parameter ready: a ready RSA key by its size in bits and its number in the store; nil for a new one.
    package static func ephemeral(
        ready: @escaping @Sendable (_ bits: Int, _ number: Int) throws(CryptoError) -> PrivateKey?
    ) -> KeyStore {
        KeyStore(.memory, maker: SigningKeyMaker(ready: ready))
    }

    /// A mark that changes with the stored keys, found without reading them: cheap enough for once a second.
    ///
    /// Nil when there are no keys, or when they cannot be seen.
    public var changeMark: KeyChangeMark? {
        switch place {
        case .file(let file): file.mark
        case .memory: held.withLock { $0.ring == nil ? nil : KeyChangeMark([$0.revision]) }
        case .vault(let keys): keys.present?.mark
        }
    }

    /// Makes a new sealing key, which seals from the next snapshot on; older boxes still open.
    public func rotateSealingKey(now: Instant, randomness: Randomness = .system) throws(KeyError) {
        _ = try update(mayBegin: firstKeys.withLock { $0 }) { (ring) throws(KeyError) in
            try ring.addSealingKey(KeyTimes(created: now, ready: now), randomness: randomness)
            ring.sealing.adopt(0, at: now)
            return true
        }
    }

    /// The ring, with every key that a policy needs: missing keys are made and stored first.
    ///
    /// - Parameter present: the ring of a running service, which the stored one must continue; if it does not, or none
    ///   is stored, nothing is made or written. Nil to make new keys if none are stored.
    public func ring(
        for policy: TokenPolicy, following present: KeyRing?, now: Instant, randomness: Randomness
    ) throws(KeyError) -> StoredKeys {
        if let stored = try read(), stored.ring.isComplete(for: policy, now: now) {
            if let present { try stored.ring.checkFollows(present, now: now) }
            return stored
        }
        var changes: [KeyRing.Change] = []
        var stored = try update(mayBegin: present == nil && firstKeys.withLock { $0 }) { (ring) throws(KeyError) in
            if let present { try ring.checkFollows(present, now: now) }
            // Another process may have been faster; in a vault, what was made before that is dropped.
            changes = []
            guard !ring.isComplete(for: policy, now: now) else { return false }
            changes = try ring.complete(for: policy, now: now, randomness: randomness)
            return true
        }
        stored.changes = changes
        return stored
    }

    /// The ring as it is stored.
    ///
    /// - Throws: also when no ring is stored, or when it does not continue the ring of a running service.
    public func stored(following present: KeyRing, now: Instant) throws(KeyError) -> StoredKeys {
        let stored = try stored()
        try stored.ring.checkFollows(present, now: now)
        return stored
    }

    /// The ring as it is stored.
    ///
    /// - Throws: also when no ring is stored.
    func stored() throws(KeyError) -> StoredKeys {
        guard let stored = try read() else { throw nothing }
        return stored
    }

    /// The stored ring; nil when there is none.
    var present: KeyRing? {
        get throws(KeyError) { try read()?.ring }
    }

    /// Copies the stored keys to another folder, which must have none yet.
    ///
    /// - Throws: `KeyError` when there are no keys, when the folder has keys, or when it cannot be written.
    public func copy(to directory: String) throws(KeyError) { try copy(to: directory, replacing: false) }

    /// Copies the stored keys again, to a folder that has an earlier copy of them.
    package func copyAgain(to directory: String) throws(KeyError) { try copy(to: directory, replacing: true) }

    /// Removes a copy that is worth nothing.
    package static func removeCopy(in directory: String) {
        PrivateFile(directory: directory, name: "keys.json").remove()
    }

    private func copy(to directory: String, replacing: Bool) throws(KeyError) {
        let file = PrivateFile(directory: directory, name: "keys.json")
        var bytes = try stored().ring.encoded()
        defer { SecretBytes.wipe(&bytes) }
        try file.locked { () throws(KeyError) in
            guard replacing || file.mark == nil else {
                throw KeyError("\(file.path) exists already: nothing was written")
            }
            do throws(KeyError) {
                try file.write(bytes)
            } catch {
                if !replacing { file.remove() }
                throw error
            }
        }
    }

    /// Takes all keys of another place; there must be none here yet.
    ///
    /// - Returns: how many keys there are.
    /// - Throws: `KeyError` when the other place has no keys, or this one has some.
    public func take(from other: KeyStore, now: Instant) throws(KeyError) -> Int {
        var taken = try other.stored().ring
        taken.prune(at: now)
        let all = taken
        _ = try update { (ring) throws(KeyError) in
            guard ring.signing.isEmpty, ring.sealing.isEmpty else {
                throw KeyError("there are keys already: nothing was imported")
            }
            ring = all
            return true
        }
        return all.signing.count + all.sealing.count
    }

    /// Changes the ring under a lock; the stored ring is at any time either the old one or the new one.
    ///
    /// - Parameter change: returns false to leave the ring unchanged.
    func update(
        mayBegin: Bool = true, _ change: (inout KeyRing) throws(KeyError) -> Bool
    ) throws(KeyError) -> StoredKeys {
        switch place {
        case .memory:
            return try held.withLock { (held: inout Stored) throws(KeyError) -> StoredKeys in
                guard var ring = held.ring ?? (mayBegin ? KeyRing(maker: maker) : nil) else { throw nothing }
                if try change(&ring) { held = Stored(ring: ring, revision: held.revision + 1) }
                return StoredKeys(ring: ring, mark: KeyChangeMark([held.revision]))
            }
        case .vault(let keys): return try keys.update(mayBegin: mayBegin, change)
        case .file(let file):
            // A folder is made only for the first keys.
            if !mayBegin { _ = try stored() }
            return try file.locked { () throws(KeyError) -> StoredKeys in
                let present = try read()
                guard var ring = present?.ring ?? (mayBegin ? KeyRing() : nil) else { throw nothing }
                guard try change(&ring) else { return StoredKeys(ring: ring, mark: present?.mark) }
                var bytes = try ring.encoded()
                defer { SecretBytes.wipe(&bytes) }
                try file.write(bytes)
                return StoredKeys(ring: ring, mark: file.mark)
            }
        }
    }

    /// The stored ring; nil when there is none.
    ///
    /// The file is always complete, so reading needs no lock.
    private func read() throws(KeyError) -> StoredKeys? {
        switch place {
        case .memory:
            return held.withLock { held in
                held.ring.map { StoredKeys(ring: $0, mark: KeyChangeMark([held.revision])) }
            }
        case .vault(let keys): return keys.present
        case .file(let file):
            guard var content = try file.read() else { return nil }
            defer { SecretBytes.wipe(&content.bytes) }
            do throws(KeyError) {
                return StoredKeys(ring: try KeyRing(decoding: content.bytes), mark: content.mark)
            } catch {
                throw KeyError("\(file.path): \(error.message)")
            }
        }
    }

    private var nothing: KeyError {
        switch place {
        case .file(let file): KeyError("there are no keys: \(file.path) does not exist")
        case .memory: KeyError("there are no keys")
        case .vault(let keys): KeyError("there are no keys in \(keys.name)")
        }
    }
}

extension KeySource where Self == KeyStore {
    /// Keys that end with the process: ``KeyStore/ephemeral()``.
    public static func ephemeral() -> KeyStore { KeyStore.ephemeral() }

    /// Keys in a folder: ``KeyStore/directory(_:)``.
    public static func directory(_ path: String) -> KeyStore { KeyStore.directory(path) }
}
