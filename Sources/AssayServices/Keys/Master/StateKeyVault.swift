public import AssayCore
internal import AssayCrypto
internal import AssayEngine
public import AssayKit
internal import Synchronization

/// Keys in the service's own state store, encrypted under a master key that is kept elsewhere: for servers that share a
/// state store.
///
/// A random data key encrypts the document, and the master key wraps the data key (AES-256-GCM each). Several master keys
/// may wrap it at a time, so that one can be replaced while servers run; see ``addWrapping(by:)``. Who has only the store
/// learns nothing of the keys, and cannot change them unnoticed; without a master key they are lost.
public final class StateKeyVault: KeyVaultPlugin {
    /// `state`, followed by where the master key is.
    public static let descriptor = StorageDescriptor(
        scheme: "state", version: AssayVersion.text,
        summary: "Keys in the state store, encrypted under a master key in a file, a variable or a token (PKCS #11).",
        location: "MASTERKEY", stability: .experimental,
        posture: SecurityPosture(
            proves: "The keys are read and changed only by who has the master key and may read and write the state.",
            trusts: [
                "everyone who has the master key", "root of each server", "the state store, for not losing the keys",
                "the token, where the master key is in one",
            ]),
        survival: .powerLoss, sharing: .servers)

    /// The keys are in the state store.
    public static var usesState: Bool { true }

    struct State {
        var isClosed = false
        /// The greatest version that this process has read or written.
        var newest: UInt64 = 0
        /// A data key that was unwrapped, so that a token is asked only for another one.
        var known: (wrapping: WrappedDocument.Wrapping, key: SecretBytes)?
    }

    let master: any MasterKey
    let document: VersionedDocument
    let tails: StateSpace
    let clock: HostClock
    let randomness: Randomness
    let state = Mutex(State())

    /// The identifier of the master key that this vault was opened with.
    public var masterKey: MasterKeyID { master.id }

    private static let space = "keyvault"

    /// How often an entry is read again that another server replaces meanwhile.
    private static let attempts = 8

    /// A vault in a state store, which stays the caller's to close.
    public init(
        in store: any StateStore, master: any MasterKey, clock: HostClock = .system, randomness: Randomness = .system
    ) {
        let space = StateSpace(Self.space, in: store)
        document = VersionedDocument(in: space.subspace("document"))
        tails = space.subspace("tails")
        self.master = master
        self.clock = clock
        self.randomness = randomness
    }

    /// A vault in the state store of the host, with the master key that the location names.
    ///
    /// - Throws: `KeyVaultError` when the host has no state store, and when the master key cannot be used.
    public static func open(_ location: String, host: StorageHost) async throws(KeyVaultError) -> StateKeyVault {
        guard let store = host.state else { throw KeyVaultError("the keys are in a state store, and none is open") }
        let master = try await MasterKeyPlace(location).open(host)
        return StateKeyVault(in: store, master: master, clock: host.clock, randomness: host.randomness)
    }

    /// Whether a state has keys of its own, under whatever master key.
    static func isUsed(in store: any StateStore) async throws -> Bool {
        try await !store.list("\(space)/document", after: nil, limit: 1).isEmpty
    }

    /// The document; nil when there is none.
    public func read() async throws(KeyVaultError) -> KeyDocument? {
        guard let reading = try await wholeReading() else { return nil }
        let key = try await dataKey(of: reading.document)
        let bytes = try reading.document.open(version: reading.version, key: key, tail: reading.tail)
        return KeyDocument(bytes: bytes, revision: reading.revision)
    }

    /// Replaces the document, under the same data key.
    public func replace(
        _ document: [UInt8], expecting expected: KeyRevision?
    ) async throws(KeyVaultError) -> KeyRevision? {
        let present = try await reading()
        guard present?.revision == expected else { return nil }
        if let present {
            let key = try await dataKey(of: present.document)
            return try await write(document, key, present.document.wrappings, after: present)
        }
        let key = newDataKey()
        return try await write(document, key, [try await wrapping(of: key, by: master)], after: nil)
    }

    /// The number of the version, and a part of its nonce: it does not come back in a store that was restored.
    public func revision() async throws(KeyVaultError) -> KeyRevision? {
        try await reading()?.revision
    }

    /// Later operations throw.
    public func close() async {
        state.withLock { $0 = State(isClosed: true) }
    }

    // MARK: - The store

    /// The newest entry.
    struct Reading {
        let version: UInt64
        let document: WrappedDocument
        let entry: VersionedDocument.Reading
        var tail: [UInt8] = []

        var revision: KeyRevision { StateKeyVault.revision(version, document) }
    }

    static func revision(_ version: UInt64, _ document: WrappedDocument) -> KeyRevision {
        KeyRevision("\(version)-\(Hex.encode(document.nonce.prefix(8)))")
    }

    /// The newest entry, without its tail; nil when there is none.
    func reading() async throws(KeyVaultError) -> Reading? {
        let newest = state.withLock { $0.newest }
        let entry = try await asking { try await $0.document.read() }
        guard let value = entry.value else { return nil }
        guard let document = WrappedDocument(value) else {
            throw KeyVaultError("the stored keys are damaged, or were written by a newer version")
        }
        // Somebody who can write to the store, and has no master key, could otherwise bring revoked keys back.
        guard entry.version >= newest else {
            throw KeyVaultError(
                "the stored keys are of version \(entry.version), and were of version \(newest) before: earlier entries were put "
                    + "back into the state; restore the newer ones: a restart would use those that are there, and lose later ones"
            )
        }
        state.withLock { $0.newest = max($0.newest, entry.version) }
        return Reading(version: entry.version, document: document, entry: entry)
    }

    /// The newest entry with its tail; nil when there is none.
    func wholeReading() async throws(KeyVaultError) -> Reading? {
        for _ in 0..<Self.attempts {
            guard var reading = try await reading() else { return nil }
            guard reading.document.tail.count > 0 else { return reading }
            let name = Hex.encode(reading.document.tail.name)
            if let tail = try await asking({ try await $0.tails.get(name) }) {
                reading.tail = tail
                return reading
            }
            // Another server has just replaced the document, and removed the tail.
            guard try await self.reading()?.version != reading.version else { break }
        }
        throw KeyVaultError("the stored keys are damaged: a part of them is missing")
    }

    /// Writes the next version; nil when another server was faster.
    func write(
        _ document: [UInt8], _ key: SecretBytes, _ wrappings: [WrappedDocument.Wrapping], after present: Reading?
    ) async throws(KeyVaultError) -> KeyRevision? {
        let version = (present?.version ?? 0) + 1
        let (sealed, tail) = try WrappedDocument.seal(
            document, version: version, key: key, wrappings: wrappings, randomness: randomness)
        let name = Hex.encode(sealed.tail.name)
        let isWritten = try await asking { vault in
            // Before the entry that names it, so that no reader finds one without the other.
            if !tail.isEmpty { _ = try await vault.tails.insert(name, value: tail, expires: nil) }
            let entry = present?.entry ?? VersionedDocument.Reading.beginning
            return try await vault.document.write(sealed.encoded, after: entry, now: vault.clock.now)
        }
        let past = isWritten ? present?.document.tail : sealed.tail
        if let past, past.count > 0 { try? await tails.put(Hex.encode(past.name), value: nil) }
        guard isWritten else { return nil }
        remember(wrappings, key)
        return Self.revision(version, sealed)
    }

    func asking<Value>(
        _ question: (StateKeyVault) async throws -> Value
    ) async throws(KeyVaultError) -> Value {
        guard !state.withLock({ $0.isClosed }) else { throw KeyVaultError("the key vault is closed") }
        do {
            return try await question(self)
        } catch {
            throw KeyVaultError("the state store: \(SafeText.of("\(error)"))")
        }
    }

    // MARK: - The data key

    func newDataKey() -> SecretBytes {
        var bytes = randomness.bytes(AES256GCM.keyByteCount)
        defer { SecretBytes.wipe(&bytes) }
        return SecretBytes(bytes)
    }

    func wrapping(
        of key: SecretBytes, by master: any MasterKey
    ) async throws(KeyVaultError) -> WrappedDocument.Wrapping {
        WrappedDocument.Wrapping(id: master.id, bytes: try await master.wrap(key, for: WrappedDocument.purpose))
    }

    /// The data key of a document.
    ///
    /// - Throws: when another master key wrapped it: with the identifiers of those that did.
    func dataKey(of document: WrappedDocument) async throws(KeyVaultError) -> SecretBytes {
        guard let wrapping = document.wrapping(by: master.id) else {
            let names = document.wrappings.map { "\($0.id)" }.joined(separator: " or ")
            throw KeyVaultError(
                "the keys are wrapped by the master key \(names), and the one that was given is \(master.id)")
        }
        if let known = state.withLock({ $0.known }), known.wrapping == wrapping { return known.key }
        let key = try await master.unwrap(wrapping.bytes, for: WrappedDocument.purpose)
        remember([wrapping], key)
        return key
    }

    private func remember(_ wrappings: [WrappedDocument.Wrapping], _ key: SecretBytes) {
        guard let own = wrappings.first(where: { $0.id == master.id }) else { return }
        state.withLock { state in
            if !state.isClosed { state.known = (own, key) }
        }
    }
}
