internal import AssayCore
internal import CLibSQLite

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SQLiteStore {
    /// Makes the file if it is missing, checks it, and opens the connection that writes.
    static func open(_ file: DatabaseFile, _ options: Options) throws -> (
        ConnectionQueue, ReadingConnections, FileWatch, foundLog: Bool
    ) {
        guard file.nameCount == 1 else {
            throw SQLiteStoreError(
                .cannotOpen,
                "\(file.path) has \(file.nameCount) names (hard links), and under each of them it would have another write-ahead log: remove the "
                    + "others")
        }
        try checkLog(file)
        try file.create()
        try file.checkWritable()
        let before = FileWatch(file)
        let hasLog = file.log.byteCount > 0
        let timeout = min(max(options.busyTimeout, .zero), .seconds(60))
        let writer = ConnectionQueue(label: "assay.state.write") {
            try openWriter(file, options, timeout)
        }
        try writer.perform { db in
            // SQLite silently applies a log that belongs to another state of the file, such as a log next to a restored
            // file.
            if hasLog { try checkPages(db, file) }
        }
        // The log exists from the first transaction until the last store is closed.
        let watch = FileWatch(file, file.log)
        guard before.blockingReason.isNil else {
            throw SQLiteStoreError(.replaced, "\(file.path): the file was replaced while it was opened")
        }
        let readers = ReadingConnections(count: Limits.readers) {
            try watch.check()
            let db = try connect(file, .queryOnly, timeout)
            // Not of a file that has replaced this one meanwhile.
            try watch.check()
            return db
        }
        return (writer, readers, watch, hasLog)
    }

    private static func openWriter(_ file: DatabaseFile, _ options: Options, _ timeout: Duration) throws -> Connection {
        let db = try retrying(for: timeout) {
            let db = try connect(file, .readWrite, timeout)
            guard try db.changeJournal(to: "WAL").isExactly("wal") else {
                throw SQLiteStoreError(.failed, "\(file.path): the file system cannot hold a write-ahead log")
            }
            return db
        }
        try configure(db, options)
        try Schema.create(db, path: file.path)
        try Schema.extend(db)
        // A full disk is no reason not to answer what only reads.
        try? Schema.noteLog(db)
        // Reads the roots of the tables, so that damage there is found now.
        for table in ["entry", "counter", "purged"] {
            try touch(table, db, file)
        }
        return db
    }

    private static func touch(_ table: String, _ db: Connection, _ file: DatabaseFile) throws {
        let found = try db.integer("SELECT count(*) FROM sqlite_schema WHERE name = '\(table)'") ?? 0
        guard found == 1 else {
            throw SQLiteStoreError(
                .corrupt, "\(file.path): the database lacks the table '\(table)'; restore it from a copy")
        }
        try db.execute("SELECT * FROM \(table) LIMIT 1")
    }

    /// - Throws: when pages of the file do not fit together.
    static func checkPages(_ db: Connection, _ file: DatabaseFile) throws {
        let found = try db.rows("PRAGMA quick_check(1)") { $0.text(0) }.first ?? ""
        guard found.isExactly("ok") else {
            throw SQLiteStoreError(
                .corrupt, "\(file.path): the database is damaged, or \(file.log.path) is not its own: \(found)")
        }
    }

    /// When two processes switch a new file to write-ahead logging at the same time, SQLite reports "busy" to one of
    /// them at once, ignoring the timeout; that one tries again.
    private static func retrying(for timeout: Duration, _ body: () throws -> Connection) throws -> Connection {
        let end = ContinuousClock.now + timeout
        while true {
            do {
                return try body()
            } catch let error as SQLiteError where error.primaryCode == SQLITE_BUSY && ContinuousClock.now < end {
                usleep(useconds_t.random(in: 2_000...10_000))
            }
        }
    }

    /// Opens a connection and recognises the file before anything is changed in it.
    static func connect(_ file: DatabaseFile, _ access: Connection.Access, _ timeout: Duration) throws -> Connection {
        let db = try Connection(path: file.path, access, busyTimeout: timeout)
        // Also when it is closed because something is wrong.
        try db.leaveLog()
        // A transaction, so that another process that makes the tables meanwhile is seen wholly or not at all.
        _ = try db.transaction(.deferred) { try Schema.inspect(db, path: file.path) }
        return db
    }

    /// Compares a file with the log beside it before SQLite sees them: it would use the file without its log, or apply any log.
    ///
    /// - Parameter takesLoss: whether a file is accepted whose own log is lost.
    static func checkLog(_ file: DatabaseFile, takesLoss: Bool = false) throws {
        for attempt in 0..<3 {
            // Another process may change both just now.
            if attempt > 0 { usleep(20_000) }
            guard let problem = logProblem(file, takesLoss) else { return }
            if attempt == 2 { throw SQLiteStoreError(.corrupt, "\(file.path): \(problem)") }
        }
    }

    private static func logProblem(_ file: DatabaseFile, _ takesLoss: Bool) -> String? {
        let hasLog = file.log.byteCount > 0
        guard file.byteCount > 0 else {
            guard hasLog else { return nil }
            return "the database is missing or empty, and its write-ahead log \(file.log.path) is there: "
                + "put the database back, or move the log away for a new state"
        }
        // What is wrong with the file itself, or is of another program or release, is found afterwards.
        guard let alone = try? Connection(readingFileAlone: file.path),
            (try? Schema.inspect(alone, path: file.path)) == .current, let isWrittenWithLog = alone.isWrittenWithLog
        else { return nil }
        if hasLog, !isWrittenWithLog {
            return "\(file.log.path) is not its own, since the database is a copy or was closed: move that file away"
        }
        guard !takesLoss, !hasLog, isWrittenWithLog, (try? Schema.hasNote(alone)) == true else { return nil }
        return "its write-ahead log \(file.log.path) is missing or empty, and with it what was written last, "
            + "unless another program such as `sqlite3` has put it into the database: "
            + "put the log back, restore a copy, or see *When the write-ahead log is lost* in the documentation"
    }

    private static func configure(_ db: Connection, _ options: Options) throws {
        let synchronous = options.durability == .powerLoss ? "FULL" : "NORMAL"
        try db.execute("PRAGMA synchronous = \(synchronous)")
        // What a burst made of the log is given back to the disk at the next checkpoint.
        try db.execute("PRAGMA journal_size_limit = 4194304")
        if let bytes = options.maximumFileSize {
            let page = try db.integer("PRAGMA page_size") ?? 4096
            try db.execute("PRAGMA max_page_count = \(max(bytes / max(page, 1), 1))")
        }
    }
}
