internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file that is read, closed when its last user releases it.
package final class FileBytes: Sendable {
    /// The path as it was given.
    package let path: String
    private let descriptor: Int32

    /// - Throws: ``AuditFileError`` with the path and the system's message, also for what is not a regular file.
    package init(_ path: String) throws(AuditFileError) {
        self.path = path
        do throws(RegularFile.Failure) {
            descriptor = try RegularFile.open(path)
        } catch {
            throw AuditFileError(error.description)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Which file it is, and its present state.
    package var status: FileStatus? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? FileStatus(status) : nil
    }

    /// Up to `count` bytes from an offset; fewer at the end of the file.
    package func read(at offset: Int, count: Int) throws(AuditFileError) -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        var filled = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, total in
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { code = errno }
                guard got > 0 else { break }
                filled += got
            }
            total = filled
        }
        guard code == 0 else { throw AuditFileError("cannot read \(path): \(String(cString: strerror(code)))") }
        return bytes
    }
}

/// Which file it is, and its size and time.
package struct FileStatus: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    /// When its content last changed, in nanoseconds.
    package let modified: Int64
    package let isRegular: Bool

    fileprivate init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        modified = Int64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ Int64(truncatingIfNeeded: time.tv_nsec)
    }

    /// The status of a path, links followed; nil when there is no such file.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether both are of one file.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// Changes of the names in a folder.
package enum Folder {
    /// The names in a folder, without `.` and `..`, in no order; nil when it cannot be read.
    package static func names(in folder: String) -> [String]? {
        guard let handle = opendir(folder) else { return nil }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle), names.count < 1_000_000 {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.isExactly("."), !name.isExactly("..") { names.append(name) }
        }
        return names
    }

    /// Has the changes of names survive a loss of power, if that is possible.
    package static func flush(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    /// The system's message about the last failure.
    package static var failure: String { String(cString: strerror(errno)) }

    /// Removes a file; a missing one is no failure.
    @discardableResult
    package static func remove(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

    /// Gives a file another name, in the place of what has it.
    package static func rename(_ path: String, to other: String) -> Bool { renameFile(path, other) == 0 }

    /// Makes an empty file, readable by its owner only; false when the name is taken or for another failure.
    package static func reserve(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Replaces a file as a whole: a new one with mode 0600 is written beside it, and renamed over it.
    ///
    /// - Parameter parts: gives the next part of the content; empty at the end.
    package static func replace(
        _ path: String, flushes: Bool, _ parts: () throws -> [UInt8]
    ) throws {
        let temporary = "\(path).tmp"
        _ = unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw AuditFileError("cannot create \(temporary): \(failure)") }
        do {
            defer { close(descriptor) }
            while case let part = try parts(), !part.isEmpty {
                var rest = part[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw AuditFileError("cannot write \(temporary): \(failure)") }
                    rest = rest.dropFirst(count)
                }
            }
            if flushes, fsync(descriptor) != 0 { throw AuditFileError("cannot write \(temporary): \(failure)") }
        } catch {
            _ = unlink(temporary)
            throw error
        }
        guard renameFile(temporary, path) == 0 else {
            let error = AuditFileError("cannot rename \(temporary): \(failure)")
            _ = unlink(temporary)
            throw error
        }
    }
}

// Inside the type above, the names mean its own methods.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

private func renameFile(_ path: String, _ other: String) -> Int32 { rename(path, other) }
