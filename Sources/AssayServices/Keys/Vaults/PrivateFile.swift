internal import AssayCore
package import AssayEngine

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file that holds a secret (see `SecretFile`), replaced as a whole or not at all.
package struct PrivateFile: Sendable {
    let directory: String
    let name: String
    private let sizeLimit: Int

    /// Refers to a file of a folder; neither need exist.
    ///
    /// - Parameter sizeLimit: the most bytes that are read.
    package init(directory: String, name: String, sizeLimit: Int = 4 << 20) {
        self.directory = directory
        self.name = name
        self.sizeLimit = sizeLimit
    }

    package var path: String { "\(directory)/\(name)" }

    /// The mark of the file; nil when there is none, or when it cannot be seen.
    var mark: KeyChangeMark? {
        var status = stat()
        return lstat(path, &status) == 0 ? KeyChangeMark(status) : nil
    }

    /// The file's bytes with its mark; nil when there is no such file.
    ///
    /// - Throws: when it cannot be read, or when its mode allows more than `SecretFile` does.
    package func read() throws(KeyError) -> (bytes: [UInt8], mark: KeyChangeMark)? {
        // Without O_NONBLOCK, opening a pipe in the file's place would wait.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("inspect", path) }
        do throws(SecretError) {
            try SecretFile.judge(descriptor, path: path, ownedAs: directory)
        } catch {
            throw KeyError(error.message)
        }
        guard status.st_size <= off_t(sizeLimit) else { throw KeyError("\(path) is too large") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes[filled...].withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            guard count > 0 else { throw KeyError("\(path) became shorter while it was read") }
            filled += count
        }
        return (bytes, KeyChangeMark(status))
    }

    /// Replaces the file: a new one is written next to it, flushed to the disk, and renamed over it.
    ///
    /// Call it within ``locked(_:)``, so that there is only one new file at a time: the next call replaces what a crash
    /// leaves of it and of its secrets.
    package func write(_ bytes: [UInt8]) throws(KeyError) {
        let temporary = "\(directory)/.\(name).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("create", temporary) }
        do throws(KeyError) {
            defer { close(descriptor) }
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("write", temporary) }
                written += count
            }
            try keepOwner(descriptor)
            guard fsync(descriptor) == 0 else { throw failure("flush", temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let error = failure("rename", temporary)
            unlink(temporary)
            throw error
        }
        try flush(directory)
    }

    /// Removes the file, and its folder if nothing else is in it.
    package func remove() {
        unlink(path)
        unlink("\(directory)/.lock")
        rmdir(directory)
    }

    /// Gives a new file the owner of the present one: if root changes the keys of a server that runs as another user,
    /// that server must still read them.
    private func keepOwner(_ descriptor: Int32) throws(KeyError) {
        var present = stat()
        var new = stat()
        guard lstat(path, &present) == 0, fstat(descriptor, &new) == 0 else { return }
        guard present.st_uid != new.st_uid || present.st_gid != new.st_gid else { return }
        guard fchown(descriptor, present.st_uid, present.st_gid) == 0 else { throw failure("keep the owner of", path) }
    }

    /// Runs an operation while no other process runs one on this directory; makes the directory if it is missing.
    package func locked<Value>(_ operation: () throws(KeyError) -> Value) throws(KeyError) -> Value {
        try makeDirectory()
        let lock = "\(directory)/.lock"
        let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("open", lock) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("lock", lock) }
        }
        return try operation()
    }

    private func makeDirectory() throws(KeyError) {
        let parts = directory.split(onASCII: "/").filter { !$0.isEmpty }
        for count in parts.indices {
            let path = (directory.starts(withExactly: "/") ? "/" : "") + parts[...count].joined(separator: "/")
            guard mkdir(path, 0o700) != 0 else {
                let parent = parts[..<count].joined(separator: "/")
                // A folder that may be written but not read cannot be flushed.
                try? flush(directory.starts(withExactly: "/") ? "/\(parent)" : parent.isEmpty ? "." : parent)
                continue
            }
            // An existing parent may still refuse a new folder.
            let error = failure("make the folder", path)
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw error }
        }
    }

    /// Flushes a folder, so that its new entries survive a loss of power.
    private func flush(_ folder: String) throws(KeyError) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("flush", folder) }
    }

    private func failure(_ action: String, _ path: String) -> KeyError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        return KeyError(
            "cannot \(action) \(path): \(isFull ? "the disk is full: " : "")\(String(cString: strerror(number)))")
    }
}

extension KeyChangeMark {
    fileprivate init(_ status: stat) {
        #if canImport(Darwin)
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.init([
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            Int64(modified.tv_sec), Int64(modified.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec),
        ])
    }
}

// Inside the type above, these names mean its own methods.

private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, start, count)
}

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
