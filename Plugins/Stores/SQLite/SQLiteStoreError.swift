public import AssayCore
internal import CLibSQLite

/// Why a SQLite store could not be opened, or an operation on it could not be carried out.
///
/// An operation that throws has no effect, or (after a failed write to the disk) one that must not be relied on. Errors
/// of the disk are temporary: when it has space or is writable again, the same store continues.
public struct SQLiteStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong; stable, for programs.
    public enum Code: String, Sendable, Hashable {
        /// The path is empty or holds a NUL.
        case invalidPath
        /// The folder of the file does not exist and could not be made.
        case directoryUnavailable
        /// The file cannot be opened: permissions, a folder in its place, no file descriptors left.
        case cannotOpen
        /// The file, its folder or its file system cannot be written.
        case readOnly
        /// The file system is full, or the file has reached ``SQLiteStore/Options/maximumFileSize``.
        case diskFull
        /// The file is not an SQLite database.
        case notADatabase
        /// The file is an SQLite database of some other program.
        case foreignDatabase
        /// The file was written by a later release, whose format this one does not know.
        case newerSchema
        /// The file is an SQLite database and damaged.
        case corrupt
        /// The file was removed or replaced while the store had it open: what is written to it is lost.
        case replaced
        /// Another process kept the file locked for longer than ``SQLiteStore/Options/busyTimeout``.
        case busy
        /// A space, a name, a value or a limit is larger than the store accepts.
        case tooLarge
        /// Changes that cannot be made together: none, too many, or two of one key.
        case invalidChanges
        /// More writes wait than the store accepts.
        case overloaded
        /// The store was closed.
        case closed
        /// Any other error of SQLite or the operating system.
        case failed
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened, in words, with the file's path where the file is the matter.
    @Exact public private(set) var message: String
    /// SQLite's extended result code (https://www.sqlite.org/rescode.html), where SQLite reported the error.
    public let sqliteCode: Int32?

    init(_ code: Code, _ message: String, sqliteCode: Int32? = nil) {
        self.code = code
        self.message = message
        self.sqliteCode = sqliteCode
    }

    /// The code, followed by the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension SQLiteStoreError {
    /// The error of the store for a failed access to the database.
    init(_ error: any Error, path: String) {
        if let known = error as? SQLiteStoreError {
            self = known
            return
        }
        guard let error = error as? SQLiteError else {
            self.init(.failed, "\(path): \(error)")
            return
        }
        let (code, meaning): (Code, String) =
            switch error.primaryCode {
            case SQLITE_FULL: (.diskFull, "no space left for the state")
            case SQLITE_READONLY, SQLITE_PERM: (.readOnly, "the file or its folder cannot be written")
            case SQLITE_NOTADB: (.notADatabase, "not an SQLite database")
            case SQLITE_CORRUPT: (.corrupt, "the database is damaged; restore it from a copy")
            case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "another process keeps the file locked")
            case SQLITE_CANTOPEN: (.cannotOpen, "the file cannot be opened")
            default: (.failed, "SQLite reports an error")
            }
        let detail = error.message.map { ": \($0)" } ?? ""
        self.init(code, "\(path): \(meaning)\(detail)", sqliteCode: error.code)
    }
}
