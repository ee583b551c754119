#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import AssayCore

/// A file that was read, and that is replaced as a whole or not at all.
struct ReplaceableFile {
    let bytes: [UInt8]
    /// The path without symbolic links.
    private let path: String
    private let status: stat

    /// More than what a policy file may have, and still little.
    private static let limit = 32 << 20

    /// Reads a file; symbolic links are followed.
    init(_ path: String) throws(FileFailure) {
        guard let real = realpath(path, nil) else { throw .system("open") }
        defer { free(real) }
        self.path = String(cString: real)
        // Without O_NONBLOCK, opening a pipe would wait.
        let descriptor = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system("open") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("inspect") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(message: "is not a regular file") }
        bytes = try Self.contents(of: descriptor, limit: Self.limit)
        self.status = status
    }

    /// Whether a path is a folder.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Standard input, read up to a byte more than the limit.
    static func input(limit: Int) throws(FileFailure) -> [UInt8] {
        Array(try contents(of: STDIN_FILENO, limit: limit + 65_536).prefix(limit + 1))
    }

    /// Puts other bytes in the file's place: a new file is written next to it, given its owner and mode, flushed to the
    /// disk, and renamed over it.
    ///
    /// Until the rename the file is what it was, whatever happens; a process that is killed leaves the new file, whose
    /// hidden name makes it no policy.
    func replace(with bytes: [UInt8]) throws(FileFailure) {
        guard access(path, W_OK) == 0 else { throw .system("write") }
        let folder = String(
            decoding: path.utf8.prefix(through: path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex),
            as: UTF8.self)
        let (descriptor, new) = try Self.create(in: folder)
        do throws(FileFailure) {
            defer { close(descriptor) }
            try Self.write(bytes, to: descriptor)
            try keepOwnerAndMode(descriptor)
            guard fsync(descriptor) == 0 else { throw .system("flush") }
            guard isUnchanged else {
                throw FileFailure(message: "was changed by another program, and was left as it is")
            }
            guard rename(new, path) == 0 else { throw .system("replace") }
        } catch {
            unlink(new)
            throw error
        }
        try Self.flush(folder)
    }

    /// Makes a file of some bytes, or replaces them in a file that is there.
    static func put(_ bytes: [UInt8], in path: String) throws(FileFailure) {
        guard access(path, F_OK) != 0 else { return try ReplaceableFile(path).replace(with: bytes) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw .system("make") }
        defer { close(descriptor) }
        do throws(FileFailure) {
            try write(bytes, to: descriptor)
            guard fsync(descriptor) == 0 else { throw .system("flush") }
        } catch {
            unlink(path)
            throw error
        }
    }

    private static func create(in folder: String) throws(FileFailure) -> (descriptor: Int32, path: String) {
        for attempt in 0..<100 {
            let path = "\(folder).assay-fmt-\(getpid())-\(attempt)"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 { return (descriptor, path) }
            guard errno == EEXIST else { break }
        }
        throw .system("write a new file beside it")
    }

    private func keepOwnerAndMode(_ descriptor: Int32) throws(FileFailure) {
        var new = stat()
        guard fstat(descriptor, &new) == 0 else { throw .system("inspect") }
        if new.st_uid != status.st_uid || new.st_gid != status.st_gid {
            guard fchown(descriptor, status.st_uid, status.st_gid) == 0 else { throw .system("keep the owner") }
        }
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else { throw .system("keep the mode") }
    }

    /// Whether the file is the one that was read: an editor may have saved it meanwhile.
    private var isUnchanged: Bool {
        var now = stat()
        guard lstat(path, &now) == 0, now.st_dev == status.st_dev, now.st_ino == status.st_ino else { return false }
        #if canImport(Darwin)
        let (then, last) = (status.st_mtimespec, now.st_mtimespec)
        #else
        let (then, last) = (status.st_mtim, now.st_mtim)
        #endif
        return now.st_size == status.st_size && last.tv_sec == then.tv_sec && last.tv_nsec == then.tv_nsec
    }

    /// Flushes a folder, so that the rename survives a loss of power.
    private static func flush(_ folder: String) throws(FileFailure) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        // A folder that may be written but not read cannot be flushed.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("flush the folder") }
    }

    private static func contents(of descriptor: Int32, limit: Int) throws(FileFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read") }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    fileprivate static func write(_ bytes: [UInt8], to descriptor: Int32) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("write") }
            rest = rest.dropFirst(count)
        }
    }
}

/// Why a file was not read or replaced.
struct FileFailure: Error {
    let message: String

    /// What the system says, of an action that it just refused.
    static func system(_ action: String) -> FileFailure {
        FileFailure(message: "cannot \(action): \(String(cString: strerror(errno)))")
    }
}

extension Terminal {
    /// Writes bytes to standard output as they are.
    static func put(_ bytes: [UInt8]) throws(OutputError) {
        do throws(FileFailure) {
            try ReplaceableFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            throw OutputError(description: error.message)
        }
    }
}

// Inside the type above, the name means its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
