/// Where a client keeps a token, the name of its key and its artifact: the Keychain, a file, or memory.
///
/// Values are small: at most 64 KB. They may be called from any thread, and are called for one key by one caller at a
/// time. What is lost is made again: a token by a fetch, a key by a new attestation.
public protocol ClientStorage: Sendable {
    /// The value of a key; nil without one.
    func load(_ key: StorageKey) throws -> [UInt8]?
    /// Keeps a value in place of the former one, whole or not at all.
    func save(_ value: [UInt8], as key: StorageKey) throws
    /// Removes a value, if there is one.
    func remove(_ key: StorageKey) throws
}

/// The key of a stored value: 64 hexadecimal digits, made of the app, the server and what the value is.
public struct StorageKey: Sendable, CustomStringConvertible {
    /// The digits, which may be the name of a file.
    public let text: String

    init(app: String, server: String, name: String) {
        let parts = [app, server, name].map { Array($0.utf8) + [0] }
        text = HexText.encode(SHA256Digest.hash(Array(parts.joined())))
    }

    /// The digits.
    public var description: String { text }
}

/// Keeps values until the program ends.
public final class MemoryStorage: ClientStorage {
    private struct Entry: Sendable {
        let key: String
        let value: [UInt8]
    }

    private let entries = Lock<[Entry]>([])

    /// Makes an empty storage.
    public init() {}

    /// The value of a key.
    public func load(_ key: StorageKey) -> [UInt8]? {
        entries.withLock { entries in entries.first { $0.key.sameBytes(as: key.text) }?.value }
    }

    /// Keeps a value.
    public func save(_ value: [UInt8], as key: StorageKey) {
        entries.withLock { entries in
            entries.removeAll { $0.key.sameBytes(as: key.text) }
            entries.append(Entry(key: key.text, value: value))
        }
    }

    /// Removes a value.
    public func remove(_ key: StorageKey) {
        entries.withLock { entries in entries.removeAll { $0.key.sameBytes(as: key.text) } }
    }
}

/// The Keychain on Apple's systems; elsewhere files in `$XDG_STATE_HOME/assay-client`, or in
/// `~/.local/state/assay-client`; memory where there is no such folder.
public struct StandardStorage: ClientStorage {
    private let storage: any ClientStorage

    /// Makes the system's usual storage.
    public init() {
        #if canImport(Security)
        storage = KeychainStorage()
        #else
        storage = FileStorage.userFolder().map { FileStorage(folder: $0) } ?? MemoryStorage()
        #endif
    }

    /// The value of a key.
    public func load(_ key: StorageKey) throws -> [UInt8]? { try storage.load(key) }
    /// Keeps a value.
    public func save(_ value: [UInt8], as key: StorageKey) throws { try storage.save(value, as: key) }
    /// Removes a value.
    public func remove(_ key: StorageKey) throws { try storage.remove(key) }
}
