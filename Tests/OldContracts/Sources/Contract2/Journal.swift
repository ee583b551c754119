import Foundation

/// The file of a store: a line for changes that belong together, in their order.
///
/// They count when their line is on the disk. A line without its end was never confirmed, and is removed when the
/// file is opened.
struct Journal: Sendable {
    private let path: String
    private let lock: FileHandle
    private var file: FileHandle
    /// The number of lines.
    private(set) var length: Int

    /// Opens the file, and reads its changes.
    ///
    /// - Throws: ``PaperTrailError`` when it is in use, damaged or not readable.
    static func open(_ path: String) throws(PaperTrailError) -> (Journal, [Change]) {
        do {
            // The lock is on a file of its own, because a rewritten journal is another file.
            let lock = try handle("\(path).lock")
            guard flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else { throw PaperTrailError.inUse }
            let file = try handle(path)
            let bytes = [UInt8](try file.readToEnd() ?? Data())
            let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
            let changes = try bytes[..<end].split(separator: UInt8(ascii: "\n")).map { try [Change](line: Array($0)) }
            try file.truncate(atOffset: UInt64(end))
            return (Journal(path: path, lock: lock, file: file, length: changes.count), changes.flatMap { $0 })
        } catch {
            throw error as? PaperTrailError ?? .system(error.localizedDescription)
        }
    }

    mutating func append(_ changes: [Change]) throws {
        let start = try file.offset()
        do {
            try file.write(contentsOf: changes.line)
            try file.synchronize()
        } catch {
            // The changes did not happen, and must not be found when the file is read again.
            try file.truncate(atOffset: start)
            throw PaperTrailError.system(error.localizedDescription)
        }
        length += 1
    }

    /// Replaces the file by one with these changes only, in one step.
    mutating func rewrite(_ changes: [Change]) throws {
        let draft = "\(path).new"
        let new = try Self.handle(draft)
        try new.truncate(atOffset: 0)
        try new.write(contentsOf: changes.flatMap { [$0].line })
        try new.synchronize()
        guard rename(draft, path) == 0 else { throw PaperTrailError.system(String(cString: strerror(errno))) }
        (file, length) = (new, changes.count)
    }

    /// A file for reading and writing, for its owner alone; created if it is missing.
    private static func handle(_ path: String) throws(PaperTrailError) -> FileHandle {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(String(cString: strerror(errno))) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
