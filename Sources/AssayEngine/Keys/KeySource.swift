public import AssayCore
package import AssayKit
public import AssayPolicy

/// Where an engine gets its keys: `KeyStore` of `AssayServices` is a folder, a vault, or memory.
///
/// What keys are is the kernel's; where they are kept, and how they are made and replaced, is not.
public protocol KeySource: Sendable {
    /// A mark that changes with the stored keys, found without reading them: cheap enough for once a second.
    ///
    /// Nil when there are no keys, or when they cannot be seen.
    var changeMark: KeyChangeMark? { get }

    /// When the place last answered, on a clock of its own; nil for one that is always known.
    var answered: Duration? { get }

    /// How long ago an answer was.
    func age(of answer: Duration) -> Duration

    /// The stored keys, with every key that a policy needs: missing keys are made and stored first.
    ///
    /// - Parameter present: the keys of a running service, which the stored ones must continue; if they do not, or none are
    ///   stored, nothing is made or written. Nil to make new keys if none are stored.
    func ring(
        for policy: TokenPolicy, following present: KeyRing?, now: Instant, randomness: Randomness
    ) throws(KeyError) -> StoredKeys

    /// The keys as they are stored.
    ///
    /// - Throws: also when none are stored, or when they do not continue those of a running service.
    func stored(following present: KeyRing, now: Instant) throws(KeyError) -> StoredKeys
}

/// A stored ring.
public struct StoredKeys: Sendable {
    package let ring: KeyRing
    package let mark: KeyChangeMark?
    /// The changes that a policy has just made in it.
    package var changes: [KeyRing.Change]

    package init(ring: KeyRing, mark: KeyChangeMark?, changes: [KeyRing.Change] = []) {
        self.ring = ring
        self.mark = mark
        self.changes = changes
    }
}

/// A mark of a stored set of keys, found without reading it: another mark means that something has changed.
///
/// For a file, these are its identity, size and times. Every change of keys makes another file.
public struct KeyChangeMark: Sendable, Hashable {
    private let parts: [Int64]

    package init(_ parts: [Int64]) {
        self.parts = parts
    }

    /// The mark as the revision of a document.
    package var revision: KeyRevision { KeyRevision(parts.map { "\($0)" }.joined(separator: "-")) }
}

/// The reason why keys cannot be read, made or used, in words for an operator; never key material.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in words.
    @Exact public private(set) var message: String
    /// Whether the keys are valid, and only the rules of a key's lifetime forbid the request.
    public let isRefusal: Bool

    /// An error that is no refusal.
    public init(_ message: String) {
        self.message = message
        isRefusal = false
    }

    package init(refusal message: String) {
        self.message = message
        isRefusal = true
    }

    /// The message.
    public var description: String { message }
}

extension KeyRing {
    /// What was done, for the log.
    package enum Change: Sendable {
        /// The first key signs at once, because no client holds an earlier key set.
        case made(String, algorithm: String)
        case madeSealing(String)
        /// A key of the policy's kind was made, and replaces the present one at a later time.
        case prepared(String, algorithm: String, begins: Instant, until: String)
        /// A prepared key is already of the kind that the changed policy asks for.
        case adopted(String, begins: Instant, until: String)
        /// A key of another kind is not activated automatically.
        case heldBack(String, algorithm: String)
    }
}
