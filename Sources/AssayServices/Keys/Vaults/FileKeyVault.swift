internal import AssayCore
internal import AssayEngine
public import AssayKit
internal import Synchronization

/// Keys in a folder of this machine: one file that only its owner may read, made when it is missing, and always replaced
/// as a whole.
///
/// It is the vault of a plain path in `--keys`. Several processes may share the folder: each replacement holds a lock,
/// and is flushed to the disk and renamed over the file before it returns. A file that other users may read or write is
/// refused, with the command that corrects it.
public final class FileKeyVault: KeyVaultPlugin {
    /// `file`, followed by the path of the folder.
    public static let descriptor = StorageDescriptor(
        scheme: "file", version: AssayVersion.text,
        summary: "Keys in a folder of this machine, in one file that only its owner may read.", location: "FOLDER",
        stability: .stable,
        posture: SecurityPosture(
            proves: "The keys are read and changed only by users who may read and write the file.",
            trusts: ["root of the machine", "the user that owns the file", "the machine's disk and its backups"]),
        survival: .powerLoss, sharing: .machine)

    let file: PrivateFile
    private let isClosed = Mutex(false)

    /// A vault in a folder, which need not exist; nothing is read or made yet.
    public init(folder: String) {
        file = PrivateFile(directory: folder, name: "keys.json")
    }

    /// A vault in a folder.
    ///
    /// - Throws: `KeyVaultError` for an empty path.
    public static func open(_ location: String, host: StorageHost) async throws(KeyVaultError) -> FileKeyVault {
        guard !location.isEmpty else { throw KeyVaultError("file: expected the path of a folder") }
        return FileKeyVault(folder: location)
    }

    /// The file's bytes; nil when there is no file.
    public func read() async throws(KeyVaultError) -> KeyDocument? {
        try perform { () throws(KeyError) in
            try file.read().map { KeyDocument(bytes: $0.bytes, revision: $0.mark.revision) }
        }
    }

    /// Replaces the file, while no other process changes it.
    public func replace(
        _ document: [UInt8], expecting expected: KeyRevision?
    ) async throws(KeyVaultError) -> KeyRevision? {
        try perform { () throws(KeyError) in
            try file.locked { () throws(KeyError) -> KeyRevision? in
                guard file.mark?.revision == expected else { return nil }
                try file.write(document)
                return file.mark?.revision
            }
        }
    }

    /// The file's identity, size and times; its content is not read.
    public func revision() async throws(KeyVaultError) -> KeyRevision? {
        try perform { () throws(KeyError) in file.mark?.revision }
    }

    /// Later operations throw.
    public func close() async {
        isClosed.withLock { $0 = true }
    }

    private func perform<Value>(_ work: () throws(KeyError) -> Value) throws(KeyVaultError) -> Value {
        guard !isClosed.withLock({ $0 }) else { throw KeyVaultError("the key vault is closed") }
        do throws(KeyError) {
            return try work()
        } catch {
            throw KeyVaultError(error.message)
        }
    }
}
