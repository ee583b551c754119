public import AssayCore

/// The place where the keys of a service are kept: one secret document, always replaced as a whole.
///
/// The kernel makes, reads and understands the document; a vault only keeps its bytes. Losing them is worse than losing
/// state. An implementer keeps these promises; `KeyVaultSuite` in `AssayTesting` checks them:
///
/// - ``read()`` returns a document as a whole: the old one or the new one, never a mixture, also after a crash;
/// - of any number of concurrent ``replace(_:expecting:)`` with one expected revision, exactly one succeeds;
/// - every change gives another ``KeyRevision``, and a revision never comes back;
/// - when ``replace(_:expecting:)`` returns a revision, the document survives what the descriptor says;
/// - a document that cannot be read as it was written is an error, and never "no document": the kernel would make new
///   keys;
/// - documents of up to 1 MiB are accepted; a larger one may be refused, and is never cut;
/// - no error, log line or description has any part of a document;
/// - after ``close()`` every operation throws.
///
/// The kernel calls a vault at the start, for changes of keys, and every few seconds for ``revision()``; each call may take
/// 30 seconds. No request waits for a vault: between two calls what it held last is in force.
public protocol KeyVault: Sendable {
    /// The stored document; nil when there is none.
    func read() async throws(KeyVaultError) -> KeyDocument?

    /// Replaces the document if its revision is still the expected one.
    ///
    /// - `expected`: the revision that was read; nil when no document may exist.
    /// - Returns: the new revision; nil when another writer was faster, and nothing was changed.
    func replace(
        _ document: [UInt8], expecting expected: KeyRevision?
    ) async throws(KeyVaultError) -> KeyRevision?

    /// The revision of the stored document; nil when there is none.
    ///
    /// It is asked every few seconds. By default it reads the document.
    func revision() async throws(KeyVaultError) -> KeyRevision?

    /// Why the keys are not reliable now, for operators; nil when they are.
    ///
    /// The engine asks before each decision and decides nothing meanwhile. It returns at once, in microseconds.
    var blockingReason: String? { get }

    /// Ends all work. It is called once, at the end of the process.
    func close() async
}

extension KeyVault {
    /// The revision of the document that ``read()`` returns.
    public func revision() async throws(KeyVaultError) -> KeyRevision? { try await read()?.revision }
    /// No blocking reason.
    public var blockingReason: String? { nil }
}

/// A key vault that an operator can choose by its scheme, as in `--keys SCHEME:LOCATION`.
public protocol KeyVaultPlugin: KeyVault {
    /// The scheme, and what operators should know.
    static var descriptor: StorageDescriptor { get }

    /// Whether it needs the service's state store, ``StorageHost/state``; it does not by default.
    static var usesState: Bool { get }

    /// Opens the vault; makes no document.
    ///
    /// - `location`: the text after the colon.
    /// - Throws: ``KeyVaultError`` with words for an operator.
    static func open(_ location: String, host: StorageHost) async throws(KeyVaultError) -> Self
}

extension KeyVaultPlugin {
    /// It does not need the state store.
    public static var usesState: Bool { false }
}

/// A document of keys, as a vault returns it.
public struct KeyDocument: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The bytes, as they were written.
    public let bytes: [UInt8]
    /// The mark of this version.
    public let revision: KeyRevision

    /// Makes a document from its bytes and their revision.
    public init(bytes: [UInt8], revision: KeyRevision) {
        self.bytes = bytes
        self.revision = revision
    }

    /// The revision; never the bytes, which are secret.
    public var description: String { "a document of keys, revision \(revision)" }

    /// Only the revision, so that no dump has the bytes.
    public var customMirror: Mirror { Mirror(self, children: ["revision": revision]) }
}

/// The mark of one version of a document of keys; another mark means another version.
public struct KeyRevision: Sendable, Hashable, CustomStringConvertible {
    /// The mark, in the form of the vault; not secret.
    @Exact public private(set) var text: String

    /// Makes a mark.
    public init(_ text: String) {
        self.text = text
    }

    /// Same as ``text``.
    public var description: String { text }
}

/// Why a key vault cannot do what it was asked for; never any part of a document.
public struct KeyVaultError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for operators.
    @Exact public private(set) var message: String

    /// Makes an error with a message for operators.
    public init(_ message: String) {
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
