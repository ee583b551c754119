internal import AssayCore
internal import CLibSQLite

/// One connection to a database file, and the statements that were compiled on it.
///
/// For one thread at a time; a ``ConnectionQueue`` sees to that.
final class Connection {
    enum Access {
        case readWrite
        /// Statements that would write are refused. The file is opened for writing anyway, since a reader of a
        /// write-ahead log may have to make the index of that log.
        case queryOnly
    }

    enum TransactionKind: String {
        case deferred = "BEGIN DEFERRED"
        /// Takes the write lock at once.
        case immediate = "BEGIN IMMEDIATE"
    }

    private let handle: OpaquePointer
    private var statements: [ExactText: Statement] = [:]

    /// Opens an existing file.
    ///
    /// - Parameter busyTimeout: how long a statement waits for another connection's lock.
    init(path: String, _ access: Access, busyTimeout: Duration) throws(SQLiteError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        // The handle must be closed even when the file could not be opened.
        guard let handle else { throw SQLiteError(code: result, message: nil) }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        guard result == SQLITE_OK else { throw error(result) }
        let milliseconds = busyTimeout / .milliseconds(1)
        sqlite3_busy_timeout(handle, Int32(clamping: Int64(milliseconds)))
        try execute("PRAGMA trusted_schema = OFF")
        if access == .queryOnly { try execute("PRAGMA query_only = ON") }
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Opens an existing file as it is on the disk, without its write-ahead log and without locks; makes no file beside it.
    ///
    /// - Parameter path: an absolute path, or one that begins with `./`.
    init(readingFileAlone path: String) throws(SQLiteError) {
        let escaped = path.utf8.map { byte in
            byte.isASCIILetter || byte.isASCIIDigit || "/._-".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
        }
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
        let result = sqlite3_open_v2("file:\(escaped.joined())?immutable=1", &handle, flags, nil)
        guard let handle else { throw SQLiteError(code: result, message: nil) }
        self.handle = handle
        guard result == SQLITE_OK else { throw error(result) }
    }

    /// Leaves the write-ahead log as it is when this connection is closed, also if it is the last one.
    func leaveLog() throws(SQLiteError) {
        let result = assay_sqlite3_leave_log(handle)
        guard result == SQLITE_OK else { throw error(result) }
    }

    /// How the file is written, by its header; nil if it is empty, and if it is no database.
    var isWrittenWithLog: Bool? {
        switch assay_sqlite3_write_version(handle) {
        case 1: false
        case 2: true
        default: nil
        }
    }

    /// Changes how the file is written; returns the way from now on, such as `wal` and `delete`.
    func changeJournal(to mode: String) throws(SQLiteError) -> String {
        try rows("PRAGMA journal_mode = \(mode)") { $0.text(0) }.first ?? ""
    }

    /// Runs statements that take no values and whose rows are not read.
    func execute(_ script: String) throws(SQLiteError) {
        let result = sqlite3_exec(handle, script, nil, nil, nil)
        guard result == SQLITE_OK else { throw error(result) }
    }

    /// Runs a statement, which is compiled once for each connection.
    ///
    /// Returns the number of rows that it changed.
    func change(_ sql: String, _ values: [Value]) throws(SQLiteError) -> Int {
        try rows(sql, values) { _ in }
        return Int(sqlite3_changes(handle))
    }

    /// Runs a statement, which is compiled once for each connection, and reads its rows.
    @discardableResult
    func rows<T>(_ sql: String, _ values: [Value] = [], read: (Row) -> T) throws(SQLiteError) -> [T] {
        let statement = try statement(sql)
        // This also ends the statement's read transaction, and releases the values.
        defer { statement.reset() }
        for (index, value) in values.enumerated() {
            let result = statement.bind(value, at: Int32(index + 1))
            guard result == SQLITE_OK else { throw error(result) }
        }
        var found: [T] = []
        while true {
            let result = sqlite3_step(statement.handle)
            switch result {
            case SQLITE_ROW: found.append(read(Row(statement: statement.handle)))
            case SQLITE_DONE: return found
            default: throw error(result)
            }
        }
    }

    /// The first column of a statement's first row; nil without a row.
    func integer(_ sql: String) throws(SQLiteError) -> Int? {
        try rows(sql) { $0.integer(0).map(Int.init) }.first ?? nil
    }

    /// Runs a body within a transaction: committed when it returns, rolled back when it or the commit throws.
    func transaction<T>(_ kind: TransactionKind, _ body: () throws -> T) throws -> T {
        try execute(kind.rawValue)
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some errors, such as a full disk, have ended it already.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs a body within the current transaction; what it changed is undone if it throws or finds something.
    func undoing<T>(_ body: () throws -> T?) throws -> T? {
        try execute("SAVEPOINT part")
        do {
            let found = try body()
            if found != nil { try execute("ROLLBACK TO part") }
            try execute("RELEASE part")
            return found
        } catch {
            // Some errors have ended the whole transaction, and with it the savepoint.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK TO part; RELEASE part") }
            throw error
        }
    }

    private func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let known = statements[sql] { return known }
        var compiled: OpaquePointer?
        let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        guard result == SQLITE_OK, let compiled else { throw error(result) }
        let statement = Statement(handle: compiled)
        statements[sql] = statement
        return statement
    }

    private func error(_ result: Int32) -> SQLiteError {
        SQLiteError(code: result, message: sqlite3_errmsg(handle).map { String(cString: $0) })
    }
}

/// What SQLite reports: an extended result code (https://www.sqlite.org/rescode.html), and its words.
struct SQLiteError: Error {
    let code: Int32
    let message: String?

    /// The code without its extension.
    var primaryCode: Int32 { code & 0xFF }
}
