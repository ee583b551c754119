#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#endif

/// Keeps each value in a file of mode 0600, in a folder of mode 0700.
///
/// A file that another user owns or may read is not read, nor is a link. Values are written to a new file that takes
/// the place of the former one. Programs that share a folder wait for each other; a new file that one of them left
/// behind when it was killed is removed with the next look at the value.
public struct FileStorage: ClientStorage {
    /// Why a file could not be used.
    public struct Failure: Error, CustomStringConvertible {
        /// The file or folder, what was tried, and the system's words.
        public let description: String
    }

    private let folder: String

    /// Makes a storage in a folder, which is made with the first value.
    public init(folder: String) {
        self.folder = folder
    }

    /// The value of a key.
    public func load(_ key: StorageKey) throws -> [UInt8]? {
        let path = path(key)
        if access(Self.new(path), F_OK) == 0 { try alone { _ = unlink(Self.new(path)) } }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw failure("open", path)
        }
        defer { close(file) }
        try judge(file, path)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= ClientLimits.reply else { throw Failure(description: "\(path) is too large") }
        }
    }

    /// Keeps a value.
    public func save(_ value: [UInt8], as key: StorageKey) throws {
        try makeFolder()
        try alone { try replace(path(key), by: value) }
    }

    private func replace(_ path: String, by value: [UInt8]) throws {
        let new = Self.new(path)
        // One that a killed program has left.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("create", new) }
        var isWritten = false
        defer { if !isWritten { unlink(new) } }
        do {
            defer { close(file) }
            try write(value, to: file, new)
            guard fsync(file) == 0 else { throw failure("write", new) }
        }
        guard rename(new, path) == 0 else { throw failure("rename", new) }
        isWritten = true
    }

    /// Removes a value.
    public func remove(_ key: StorageKey) throws {
        let path = path(key)
        guard access(folder, F_OK) == 0 else { return }
        try alone {
            unlink(Self.new(path))
            guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw failure("remove", path) }
        }
    }

    /// Where programs of a user keep such files (XDG Base Directory Specification); nil without a home.
    static func userFolder() -> String? {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.begins(with: "/") ? $0 : nil }
        }
        let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { "\($0)/.local/state" }
        return state.map { "\($0)/assay-client" }
    }

    private func path(_ key: StorageKey) -> String { "\(folder)/\(key.text)" }

    /// The file that takes the place of another one.
    private static func new(_ path: String) -> String { "\(path).new" }

    private static let (tries, pause) = (100, UInt32(20_000))

    /// Does something while no other thread or program does it in the folder.
    ///
    /// The system opens the lock when a program ends. One that stands still is waited for, for two seconds.
    private func alone<Value>(_ work: () throws -> Value) throws -> Value {
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw failure("open", folder) }
        defer { close(lock) }
        var left = Self.tries
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, left > 0 else { throw failure("lock", folder) }
            left -= 1
            usleep(Self.pause)
        }
        return try work()
    }

    private func write(_ value: [UInt8], to file: Int32, _ path: String) throws {
        var rest = value[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                Darwin.write(file, bytes.baseAddress, bytes.count)
                #elseif canImport(Glibc)
                Glibc.write(file, bytes.baseAddress, bytes.count)
                #else
                Musl.write(file, bytes.baseAddress, bytes.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write", path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Makes each folder of the path that is missing.
    private func makeFolder() throws {
        let path = Array(folder.utf8)
        guard !path.isEmpty else { throw Failure(description: "the folder of the storage has no name") }
        for end in 1...path.count where end == path.count || path[end] == UInt8(ascii: "/") {
            let part = String(decoding: path[..<end], as: UTF8.self)
            guard mkdir(part, 0o700) == 0 || errno == EEXIST else { throw failure("make", part) }
        }
    }

    private func judge(_ file: Int32, _ path: String) throws {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw Failure(description: "\(path) is no file that this user alone may read (chmod 600): it is not used")
        }
    }

    private func failure(_ action: String, _ path: String) -> Failure {
        Failure(description: "cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }
}
