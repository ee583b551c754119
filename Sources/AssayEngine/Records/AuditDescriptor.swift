#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An audit file while it is open; closed when the last one who writes to it lets go.
final class AuditDescriptor: Sendable {
    private let descriptor: Int32
    /// Whether it had a name when it was opened: `/dev/fd/3` may be a file that never had one.
    private let hadName: Bool

    /// Opens the file to append to it, and makes it, for its owner's eyes only, where there is none.
    ///
    /// - Throws: ``AuditError`` with the path and the system's words.
    init(_ path: String) throws(AuditError) {
        // Without O_NONBLOCK a pipe without a reader would be waited for.
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw AuditError("cannot open the audit file \(path): \(String(cString: strerror(errno)))")
        }
        hadName = nameCount(descriptor) > 0
    }

    deinit {
        close(descriptor)
    }

    enum Writing {
        case whole
        /// How many bytes were written, and the system's words.
        case failed(written: Int, String)
    }

    /// Writes a line with one call, so that lines of several processes that share the file do not mix.
    func write(_ line: [UInt8]) -> Writing {
        while true {
            let count = line.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count == line.count { return .whole }
            if count >= 0 { return .failed(written: count, "only a part of a line could be written") }
            if errno != EINTR { return .failed(written: 0, String(cString: strerror(errno))) }
        }
    }

    /// Whether the last name of the file was removed, so that nobody can read what is written to it.
    ///
    /// A file that was renamed still has a name. Log rotation renames the file first.
    var isRemoved: Bool { hadName && nameCount(descriptor) == 0 }

    /// Makes what was written survive a loss of power, where that is possible.
    func flush() {
        // A device or a pipe cannot be flushed, and there is nothing to do about a disk that fails now.
        _ = fsync(descriptor)
    }
}

// Within the type above the name is that of its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

/// How many names a file has in its file system; 1 when that cannot be found out.
private func nameCount(_ descriptor: Int32) -> Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_nlink) : 1
}
