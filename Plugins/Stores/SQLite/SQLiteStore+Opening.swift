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
        ConnectionQueue, ReadingConnections, FileWatch
    ) {
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
        // The log exists from the first transaction until the last connection is closed.
        let watch = FileWatch(file, file.log)
        guard before.blockingReason.isNil else {
            throw SQLiteStoreError(.replaced, "\(file.path): the file was replaced while it was opened")
        }
        let readers = ReadingConnections(count: Limits.readers) {
            try watch.check()
            // The writer has verified the log, which is watched since then.
            let db = try connect(file, .queryOnly, timeout, takesLoss: true)
            // Not of a file that has replaced this one meanwhile.
            try watch.check()
            return db
        }
        return (writer, readers, watch)
    }

    private static func openWriter(_ file: DatabaseFile, _ options: Options, _ timeout: Duration) throws -> Connection {
        let db = try retrying(for: timeout) {
            let db = try connect(file, .readWrite, timeout)
            guard try db.journalMode("WAL").isExactly("wal") else {
                throw SQLiteStoreError(.failed, "\(file.path): the file system cannot hold a write-ahead log")
            }
            try db.keepLog()
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
    ///
    /// - Parameter takesLoss: whether a file is opened although its log is lost.
    static func connect(
        _ file: DatabaseFile, _ access: Connection.Access, _ timeout: Duration, takesLoss: Bool = false
    ) throws -> Connection {
        for _ in 0..<3 {
            let hasLog = file.log.identity != nil
            let db = try Connection(path: file.path, access, busyTimeout: timeout)
            // A transaction, so that another process that makes the tables meanwhile is seen wholly or not at all.
            let needsLog = try db.transaction(.deferred) {
                _ = try Schema.inspect(db, path: file.path)
                return try Schema.needsLog(db)
            }
            // SQLite makes a log that is missing. The last connection shall remove that one, and none that was there.
            if hasLog { try db.keepLog() }
            if hasLog || !needsLog || takesLoss { return db }
            // Another process may have begun to use the file just now.
        }
        throw SQLiteStoreError(
            .corrupt,
            "\(file.path): its write-ahead log \(file.log.path) is missing, and with it what was written last: put it back, or restore a copy. "
                + "To go on with what is left, make a copy with `assay state backup` and restore that: what is valid only once and was issued before counts as used then"
        )
    }

    private static func configure(_ db: Connection, _ options: Options) throws {
        let synchronous = options.durability == .powerLoss ? "FULL" : "NORMAL"
        try db.execute("PRAGMA synchronous = \(synchronous)")
        if let bytes = options.maximumFileSize {
            let page = try db.integer("PRAGMA page_size") ?? 4096
            try db.execute("PRAGMA max_page_count = \(max(bytes / max(page, 1), 1))")
        }
    }
}
