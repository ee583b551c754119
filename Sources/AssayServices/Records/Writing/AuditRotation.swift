internal import AssayCore
internal import Dispatch
internal import Logging
internal import Synchronization

/// When an audit file is renamed and a new one begun, and what becomes of the renamed ones.
///
/// A rotated file is called `FILE.20261124T081500Z-000001`.
public struct AuditRotation: Sendable, Hashable {
    /// How many bytes a file may have; nil for any number.
    public var size: Int?
    /// How old the first line of a file may be; nil for any age.
    ///
    /// It is looked at when a record is written.
    public var age: Duration?
    /// How many rotated files are kept; nil for all.
    public var keep: Int?
    /// Whether rotated files are compressed.
    public var compresses: Bool

    /// By default, nothing is rotated: another program may rename the file, and have it opened again.
    public init(size: Int? = nil, age: Duration? = nil, keep: Int? = nil, compresses: Bool = false) {
        self.size = size
        self.age = age
        self.keep = keep.map { max($0, 1) }
        self.compresses = compresses
    }

    var isOn: Bool { size != nil || age != nil }
}

/// A rotated file that is removed by the keeping rule, and the lines that go with it.
struct AuditRemoval: Sendable {
    let file: RotatedFile
    /// The last line of a chain in it; nil when it does not end with one.
    let last: AuditChain.Head?

    init(_ file: RotatedFile) {
        self.file = file
        if case .chain(let head, torn: _)? = (try? AuditTail(of: file))?.ending { last = head } else { last = nil }
    }

    /// What the record of it says: the verifier finds by `last_seq` and `last_chain` which beginning it explains.
    var details: [JSONMember] {
        var details = [JSONMember("file", .string(RotatedFile.split(file.path).name))]
        if let last {
            details.append(JSONMember("last_seq", .integer(Int64(clamping: last.sequence))))
            details.append(JSONMember("last_chain", .string(last.value)))
        }
        return details
    }
}

/// Compresses and removes rotated files, behind the writer's back.
///
/// Whatever moment it is killed at, a later run ends its work: a compressed file appears as a whole, and only then the
/// other one goes.
final class AuditKeeper: Sendable {
    private let path: String
    private let rotation: AuditRotation
    private let logger: Logger
    private let queue = DispatchQueue(label: "assay.audit.rotated", qos: .utility)
    private let isClosed = Mutex(false)
    private let announce = Mutex<(@Sendable (AuditRemoval) -> Void)?>(nil)
    /// Whether a file waits to be removed.
    private let isAnnounced = Mutex(false)

    init(_ path: String, _ rotation: AuditRotation, _ logger: Logger) {
        self.path = path
        self.rotation = rotation
        self.logger = logger
    }

    /// Begins with what an earlier server left.
    ///
    /// - Parameter announce: puts on record that a file is removed, and then calls ``remove(_:)``.
    func start(announcing announce: @escaping @Sendable (AuditRemoval) -> Void) {
        self.announce.withLock { $0 = announce }
        tidy()
    }

    /// Does what is to be done, on a queue of its own.
    func tidy() {
        guard rotation.isOn else { return }
        queue.async {
            self.removeLeftovers()
            self.planRemoval()
            if self.rotation.compresses { self.compress() }
        }
    }

    /// What is not begun is left to the next start.
    func close() { isClosed.withLock { $0 = true } }

    /// Waits for what was asked before.
    func finish() { queue.sync {} }

    private func removeLeftovers() {
        let (folder, name) = RotatedFile.split(path)
        for entry in Folder.names(in: folder) ?? []
        where entry.starts(withExactly: "\(name).") && entry.ends(withExactly: ".tmp") {
            // An index is written in a moment, and by others.
            if entry.ends(withExactly: ".gz.tmp") { Folder.remove(RotatedFile.join(folder, entry)) }
        }
        for entry in Folder.names(in: folder) ?? []
        where entry.starts(withExactly: "\(name).") && entry.ends(withExactly: ".idx") {
            // The index of a file that was compressed or removed while it was made.
            let index = RotatedFile.join(folder, entry)
            if RotatedFile.hasNoFile(index: index) { Folder.remove(index) }
        }
        // A name that was reserved, and did not get its file.
        for file in RotatedFile.all(of: path) where FileStatus(path: file.path)?.size == 0 { Folder.remove(file.path) }
    }

    /// Announces that the oldest file beyond the number to keep is removed: its removal waits until a line of the chain says so.
    private func planRemoval() {
        guard let keep = rotation.keep, let announce = announce.withLock({ $0 }), !isClosed.withLock({ $0 }) else {
            return
        }
        let files = RotatedFile.all(of: path)
        guard files.count > keep, let oldest = files.first, !isAnnounced.withLock({ $0 }) else { return }
        isAnnounced.withLock { $0 = true }
        announce(AuditRemoval(oldest))
    }

    /// Removes a file of which a line of the chain says so, then the next one.
    func remove(_ removal: AuditRemoval) {
        queue.async {
            let path = removal.file.path
            let failure = Folder.remove(path) ? nil : Folder.failure
            self.isAnnounced.withLock { $0 = false }
            if let failure {
                self.logger.error(
                    "a rotated audit file cannot be removed", metadata: ["file": "\(path)", "error": "\(failure)"])
                return
            }
            Folder.remove("\(path).idx")
            self.logger.info("a rotated audit file was removed", metadata: ["file": "\(path)"])
            self.planRemoval()
        }
    }

    private func compress() {
        for file in RotatedFile.all(of: path) where !file.isCompressed {
            do {
                try GZipBlocks.compress(file.path, to: "\(file.path).gz") { isClosed.withLock { $0 } }
                Folder.flush(RotatedFile.split(path).folder)
                Folder.remove(file.path)
                Folder.remove("\(file.path).idx")
            } catch is CancellationError {
                return
            } catch {
                logger.error(
                    "a rotated audit file cannot be compressed",
                    metadata: ["file": "\(file.path)", "error": "\(error)"])
            }
        }
    }
}
