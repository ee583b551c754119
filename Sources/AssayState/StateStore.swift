public import AssayCore

/// Storage for data of the kernel and of plugins that must outlive a request: few operations, each atomic and durable.
///
/// An implementer keeps these promises; `StateStoreSuite` in `AssayTesting` checks them:
///
/// - when an operation returns, its effect survives a crash of the process, if the store is durable;
/// - of any number of concurrent ``insert(_:value:expires:)`` of one key, exactly one returns true;
/// - a counter never goes down, whatever the order of concurrent ``advance(_:to:)``;
/// - an entry is expired from the instant `expires` on; it then counts as absent, and its space is freed at some time;
/// - an entry that has expired and was removed is not forgotten when the clock is set back: an
///   ``insert(_:value:expires:)`` whose `expires` is not later than that of an entry that was removed from the same
///   space returns false;
/// - spaces and names are compared by their bytes in UTF-8 (not as `String` compares them); names up to 1024 bytes and
///   values up to 1 MiB are accepted, larger ones may be refused but are never truncated;
/// - a store that is full refuses to write; it never drops unexpired entries;
/// - an operation that fails throws, and has then no effect, or one that the caller must not rely on.
public protocol StateStore: Sendable {
    /// Writes an entry unless an unexpired one exists. Returns whether it did.
    ///
    /// False also means that there may have been one, which expired and was removed before the clock was set back.
    func insert(_ key: StateKey, value: [UInt8], expires: Instant?) async throws -> Bool

    /// Raises a counter if `value` is greater than what is stored; absent counts as 0. Returns whether it did.
    /// Counters do not expire.
    func advance(_ key: StateKey, to value: UInt64) async throws -> Bool

    /// The value of an entry that has not expired.
    func get(_ key: StateKey) async throws -> [UInt8]?

    /// Writes an entry, or replaces it; nil deletes it. Counters are not entries.
    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws

    /// Up to `limit` entries of a space whose names come after `name`, in the order of their names' bytes.
    ///
    /// Nil starts at the first. Fewer than `limit` entries mean the end. Limit pages to 10 000 entries: a store may
    /// refuse larger ones.
    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry]

    /// Why the store is not reliable now, for operators, for example because its file was removed or replaced; nil when
    /// it is reliable.
    ///
    /// The engine asks before each decision and decides nothing meanwhile. It returns at once, in microseconds.
    var blockingReason: String? { get }
}

extension StateStore {
    /// No blocking reason.
    public var blockingReason: String? { nil }
}

/// The name of an entry or a counter.
public struct StateKey: Sendable, Hashable {
    /// The owner: a namespace of the kernel or a plugin.
    @Exact public private(set) var space: String
    /// The name within the namespace.
    @Exact public private(set) var name: String

    /// Makes a key from a namespace and a name within it.
    public init(_ space: String, _ name: String) {
        self.space = space
        self.name = name
    }
}

/// An entry as ``StateStore/list(_:after:limit:)`` returns it.
public struct StateEntry: Sendable, Hashable {
    /// The entry's name within its namespace.
    @Exact public private(set) var name: String
    /// The entry's bytes.
    public let value: [UInt8]
    /// The instant from which the entry is absent; nil when it never expires.
    public let expires: Instant?

    /// Makes an entry.
    public init(name: String, value: [UInt8], expires: Instant?) {
        self.name = name
        self.value = value
        self.expires = expires
    }
}
