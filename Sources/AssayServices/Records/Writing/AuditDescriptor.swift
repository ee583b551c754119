internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An open audit file; it is closed when its last writer releases it.
///
/// A regular file is locked meanwhile (flock(2)): a second server would break its chain.
final class AuditDescriptor: Sendable {
    private let descriptor: Int32
    /// Whether it had a name when it was opened: `/dev/fd/3` may be a file that never had one.
    private let hadName: Bool
    /// Whether it is written in small pieces, each when its reader is ready.
    private let isShared: Bool
    /// Which file it is; nil for what has no end to continue from: devices, pipes, the standard output.
    let file: FileIdentity?

    /// The name of the standard output.
    static let standardOutput = "-"
    /// What can always be written to a pipe that is ready (PIPE_BUF).
    private static let pieceSize = 4096

    /// Opens the file to append to it; makes it, readable by its owner only, if it is missing.
    ///
    /// - Throws: ``AuditError`` with the path and the system's message.
    init(_ path: String) throws(AuditError) {
        isShared = path.isExactly(AuditDescriptor.standardOutput)
        // Without O_NONBLOCK, opening a pipe would wait for its reader.
        descriptor =
            isShared
            ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
            : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw AuditError("cannot open the audit file \(path): \(String(cString: strerror(errno)))")
        }
        file = isShared ? nil : FileIdentity(descriptor)
        hadName = Self.hasName(descriptor)
        guard file != nil, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
        // The descriptor is closed with the object, which is complete by now.
        throw AuditError("the audit file \(path) is in use by another server: each needs one of its own")
    }

    /// Makes a file in an open folder, readable by its owner only; nil when it exists or cannot be made, as `errno` says.
    init?(new name: String, in folder: Int32) {
        descriptor = openat(folder, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        hadName = true
        isShared = false
        file = FileIdentity(descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Lets another server have the file, before the last writer releases it.
    func release() { _ = flock(descriptor, LOCK_UN) }

    enum Writing {
        case whole
        /// How many bytes were written, and the system's message.
        case failed(written: Int, String)
    }

    /// Writes bytes to the end of the file.
    func write(_ bytes: ArraySlice<UInt8>) -> Writing {
        var rest = bytes
        while !rest.isEmpty {
            if isShared, !isReady { return .failed(written: bytes.count - rest.count, "its reader does not take it") }
            let piece = isShared ? rest.prefix(AuditDescriptor.pieceSize) : rest
            let count = piece.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return .failed(written: bytes.count - rest.count, String(cString: strerror(errno)))
            }
            rest = rest.dropFirst(count)
        }
        return .whole
    }

    /// Whether a piece can be written without waiting, at once or within a second.
    private var isReady: Bool {
        var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&readiness, 1, 1000) != 0
    }

    /// What another program did to the file; nil when nothing can be seen.
    ///
    /// A file whose last name was removed cannot be read. One that was renamed still has a name: log rotation renames the file
    /// first.
    ///
    /// - Parameter size: how many bytes it has at least.
    func damage(expecting size: Int) -> AuditInterruption? {
        var status = stat()
        guard file != nil, fstat(descriptor, &status) == 0 else { return nil }
        if hadName, status.st_nlink == 0 { return .removed }
        return Int(status.st_size) < size ? .truncated : nil
    }

    /// Whether the last name of the file was removed, so that what is written to it cannot be read.
    var isRemoved: Bool { damage(expecting: 0) == .removed }

    /// Whether the path has another file now, or none.
    func isRenamed(from path: String) -> Bool { file != nil && hadName && FileIdentity(path: path) != file }

    /// Takes back what a failed write has left; returns whether it could.
    func truncate(to size: Int) -> Bool {
        ftruncate(descriptor, off_t(size)) == 0
    }

    /// Makes the written lines survive a loss of power, if that is possible.
    func flush() {
        // A device or a pipe cannot be flushed, and a disk that fails now cannot be helped.
        _ = fsync(descriptor)
    }

    private static func hasName(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink > 0
    }

    /// How long it is.
    var size: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// Which file something is, as long as it is open.
struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Nil for what is not a regular file.
    fileprivate init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }

    /// The file that has a path now.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(status)
    }
}

// Inside the type above, the name means its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
