internal import AssayCore
public import AssayKit
internal import Synchronization

/// A key vault in memory, which several servers share by its location, with flaws on demand.
public final class SharedVault: KeyVaultPlugin {
    /// The scheme `shared`.
    public static let descriptor = StorageDescriptor(
        scheme: "shared", version: "1.0.0", summary: "Keys in memory.", location: "NAME",
        posture: SecurityPosture(proves: "Nothing.", trusts: ["the test"]), survival: .nothing, sharing: .machine,
        aliases: ["common"])

    /// What a vault does wrong.
    public enum Flaw: Sendable, CaseIterable {
        case none
        case ignoresTheExpectedRevision
        case replacesWhatExists
        case countsEqualDocumentsOnce
        case cutsLargeDocuments
        case showsDocuments
        case readsDamageAsNothing
        case worksWhenClosed
        case hidesFailures
        case keepsNothing
    }

    /// What the vaults of one location share.
    public final class Place: Sendable {
        struct State {
            var document: KeyDocument?
            var last = 0
            var isFailing = false
            var isHanging = false
            var isDamaged = false
            var reads = 0
        }

        let state = Mutex(State())

        /// Makes a place without a document.
        public init() {}

        /// Whether every operation throws.
        public var isFailing: Bool {
            get { state.withLock { $0.isFailing } }
            set { state.withLock { $0.isFailing = newValue } }
        }
        /// Whether no operation ends.
        public var isHanging: Bool {
            get { state.withLock { $0.isHanging } }
            set { state.withLock { $0.isHanging = newValue } }
        }
        /// Whether the document cannot be read as it was written.
        public var isDamaged: Bool {
            get { state.withLock { $0.isDamaged } }
            set { state.withLock { $0.isDamaged = newValue } }
        }
        /// How often the document was read.
        public var reads: Int { state.withLock { $0.reads } }
        /// Removes the document.
        public func lose() { state.withLock { $0.document = nil } }
    }

    private static let places = Mutex<[String: Place]>([:])

    /// The place at a location, the same one each time.
    public static func place(_ location: String) -> Place {
        places.withLock { places in
            if let place = places[location] { return place }
            let place = Place()
            places[location] = place
            return place
        }
    }

    private let place: Place
    private let flaw: Flaw
    private let isClosed = Atomic(false)

    /// Makes a vault of a place.
    public init(_ place: Place, flaw: Flaw = .none) {
        self.place = flaw == .keepsNothing ? Place() : place
        self.flaw = flaw
    }

    /// Opens the place with a name; `refused` is refused.
    public static func open(_ location: String, host: StorageHost) async throws(KeyVaultError) -> SharedVault {
        guard location != "refused" else { throw KeyVaultError("the location is\u{1B}[2J refused") }
        return SharedVault(place(location))
    }

    /// The document of the place.
    public func read() async throws(KeyVaultError) -> KeyDocument? {
        try await ready()
        return try place.state.withLock { state throws(KeyVaultError) in
            state.reads += 1
            if state.isDamaged {
                if flaw == .readsDamageAsNothing { return nil }
                let text = state.document.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
                throw KeyVaultError(flaw == .showsDocuments ? "damaged: \(text)" : "the document is damaged")
            }
            return state.document
        }
    }

    /// The revision of the document.
    public func revision() async throws(KeyVaultError) -> KeyRevision? {
        try await ready()
        return place.state.withLock { $0.document?.revision }
    }

    /// Replaces the document.
    public func replace(
        _ document: [UInt8], expecting expected: KeyRevision?
    ) async throws(KeyVaultError) -> KeyRevision? {
        try await ready()
        let (flaw, bytes) = (flaw, self.flaw == .cutsLargeDocuments ? Array(document.prefix(100_000)) : document)
        return place.state.withLock { state in
            let present = state.document?.revision
            switch flaw {
            case .ignoresTheExpectedRevision: if (expected == nil) != (present == nil) { return nil }
            case .replacesWhatExists: if expected != present, expected != nil { return nil }
            default: if expected != present { return nil }
            }
            state.last += 1
            let sum = bytes.prefix(64).reduce(0) { $0 &* 31 &+ Int($1) }
            let number = flaw == .countsEqualDocumentsOnce ? sum : state.last
            let revision = KeyRevision("\(number)")
            state.document = KeyDocument(bytes: bytes, revision: revision)
            return revision
        }
    }

    /// A reason while the place fails.
    public var blockingReason: String? { place.isFailing ? "the vault is locked" : nil }

    /// Later operations throw.
    public func close() async { isClosed.store(true, ordering: .relaxed) }

    private func ready() async throws(KeyVaultError) {
        if isClosed.load(ordering: .relaxed), flaw != .worksWhenClosed { throw KeyVaultError("the vault is closed") }
        if place.isFailing, flaw != .hidesFailures { throw KeyVaultError("the vault is locked") }
        while place.isHanging {
            // Until the caller gives up.
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { throw KeyVaultError("cancelled") }
        }
    }
}
