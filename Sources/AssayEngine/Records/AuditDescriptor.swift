#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An open audit file; it is closed when its last writer releases it.
final class AuditDescriptor: Sendable {
    private let descriptor: Int32
    /// Whether it had a name when it was opened: `/dev/fd/3` may be a file that never had one.
    private let hadName: Bool

    /// Opens the file to append to it; makes it, readable by its owner only, if it is missing.
    ///
    /// - Throws: ``AuditError`` with the path and the system's message.
    init(_ path: String) throws(AuditError) {
        // Without O_NONBLOCK, opening a pipe would wait for its reader.
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw AuditError("cannot open the audit file \(path): \(String(cString: strerror(errno)))")
        }
        hadName = nameCount(descriptor) > 0
    }

    /// Makes a file in an open folder, readable by its owner only; nil when it exists or cannot be made, as `errno` says.
    init?(new name: String, in folder: Int32) {
        descriptor = openat(folder, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        hadName = true
    }

    deinit {
        close(descriptor)
    }

    enum Writing {
        case whole
        /// How many bytes were written, and the system's message.
        case failed(written: Int, String)
    }

    /// Writes a line with one call, so that lines of processes that share the file do not mix.
    func write(_ line: [UInt8]) -> Writing {
        while true {
            let count = line.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count == line.count { return .whole }
            if count >= 0 { return .failed(written: count, "only part of a line could be written") }
            if errno != EINTR { return .failed(written: 0, String(cString: strerror(errno))) }
        }
    }

    /// Whether the last name of the file was removed, so that what is written to it cannot be read.
    ///
    /// A file that was renamed still has a name. Log rotation renames the file first.
    var isRemoved: Bool { hadName && nameCount(descriptor) == 0 }

    /// Takes back what a failed write has left; returns whether it could.
    func truncate(to size: Int) -> Bool {
        ftruncate(descriptor, off_t(size)) == 0
    }

    /// Makes the written lines survive a loss of power, if that is possible.
    func flush() {
        // A device or a pipe cannot be flushed, and a disk that fails now cannot be helped.
        _ = fsync(descriptor)
    }
}

// Inside the type above, the name means its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

/// How many names a file has in its file system; 1 when that is unknown.
private func nameCount(_ descriptor: Int32) -> Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_nlink) : 1
}
