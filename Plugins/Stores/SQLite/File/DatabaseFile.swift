internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The database file as the operating system sees it.
struct DatabaseFile {
    /// The path, such that SQLite reads it as a path and never as a `file:` URI or a special name.
    let path: String

    init(_ path: String) throws(SQLiteStoreError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SQLiteStoreError(.invalidPath, "the path of the state file is empty or holds a NUL")
        }
        self.path = path.starts(withExactly: "/") ? path : "./" + path
    }

    private init(unchecked path: String) {
        self.path = path
    }

    /// The write-ahead log next to the file: where the path is a symbolic link, next to what it leads to.
    var log: DatabaseFile { DatabaseFile(unchecked: target + "-wal") }

    private var target: String {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let real = realpath(path, nil) else {
            return path
        }
        defer { free(real) }
        return String(cString: real)
    }

    /// How many names it has in its file system; 1 when it does not exist.
    var nameCount: Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_nlink) : 1
    }

    /// The identity of the present file; nil when there is none.
    var identity: DatabaseIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? DatabaseIdentity(status) : nil
    }

    /// Its size; 0 when it does not exist.
    var byteCount: Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Makes what was written to the file survive a loss of power.
    func flush() throws(SQLiteStoreError) {
        try flush(path, O_RDWR)
    }

    /// Makes the file's name survive a loss of power.
    func flushFolder() throws(SQLiteStoreError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        try flush(String(path[...slash]), O_RDONLY | O_DIRECTORY)
    }

    private func flush(_ path: String, _ flags: Int32) throws(SQLiteStoreError) {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, "it cannot be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(errno, "it cannot be written to the disk") }
    }

    /// Makes the folder (0700) and the file (0600) if they do not exist; does not change existing ones.
    ///
    /// SQLite gives its other files, `-wal` and `-shm`, the same permissions.
    ///
    /// The caller sees to it that no other thread opens the same file meanwhile: closing a file releases all locks
    /// that the process holds on it, those of another connection too (https://www.sqlite.org/howtocorrupt.html, 2.2).
    ///
    /// - Parameter makesFolder: whether the folder is made too.
    func create(makesFolder: Bool = true) throws(SQLiteStoreError) {
        if makesFolder, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
            let folder = String(path[..<slash])
            if mkdir(folder, 0o700) != 0, errno != EEXIST {
                let number = errno
                guard access(folder, F_OK) == 0 else {
                    throw failure(number, "the folder does not exist and cannot be made")
                }
            }
        }
        let file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file < 0 else {
            close(file)
            return
        }
        let number = errno
        guard number != EEXIST else { return }
        throw failure(number, "the file cannot be made")
    }

    /// Throws unless this process may write the existing file and its folder, where SQLite keeps its log.
    func checkWritable() throws(SQLiteStoreError) {
        guard access(path, W_OK) == 0 else { throw failure(errno, "the file cannot be written") }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        guard access(String(path[...slash]), W_OK) == 0 else { throw failure(errno, "its folder cannot be written") }
    }

    private func failure(_ number: Int32, _ meaning: String) -> SQLiteStoreError {
        let code: SQLiteStoreError.Code =
            switch number {
            case EACCES, EPERM, EROFS: .readOnly
            case ENOSPC, EDQUOT: .diskFull
            case ENOENT, ENOTDIR: .directoryUnavailable
            default: .cannotOpen
            }
        return SQLiteStoreError(code, "\(path): \(meaning): \(String(cString: strerror(number)))")
    }
}
