internal import GRDB
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SQLiteStore {
    /// Makes the file where it is missing, recognises it, and opens the connections.
    static func open(_ file: DatabaseFile, _ options: Options) throws -> DatabasePool {
        try file.create()
        try file.checkWritable()
        let timeout = min(max(options.busyTimeout, .zero), .seconds(60))
        var configuration = Configuration()
        configuration.label = "assay.state"
        configuration.busyMode = .timeout(timeout / .seconds(1))
        configuration.maximumReaderCount = 4
        // Runs on every connection, and on the first one before the journal mode or anything else is changed.
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
            // A transaction, so that another process that makes the tables meanwhile is seen wholly or not at all.
            try db.inTransaction(.deferred) {
                _ = try Schema.inspect(db, path: file.path)
                return .commit
            }
        }
        let pool = try connect(file, configuration, timeout)
        try pool.writeWithoutTransaction { db in
            try configure(db, options)
            try Schema.create(db, path: file.path)
            // Touches the roots of the tables, so that damage there is found now.
            for table in ["entry", "counter"] {
                _ = try Row.fetchOne(db, sql: "SELECT * FROM \(table) LIMIT 1")
            }
        }
        return pool
    }

    /// Opens the connections. When two processes switch a new file to write-ahead logging at the same time, SQLite tells
    /// one of them "busy" at once, without regard to the timeout; that one tries again.
    private static func connect(
        _ file: DatabaseFile, _ configuration: Configuration, _ timeout: Duration
    ) throws -> DatabasePool {
        let end = ContinuousClock.now + timeout
        while true {
            do {
                return try DatabasePool(path: file.path, configuration: configuration)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
                usleep(useconds_t.random(in: 2_000...10_000))
            }
        }
    }

    private static func configure(_ db: Database, _ options: Options) throws {
        let synchronous = options.durability == .powerLoss ? "FULL" : "NORMAL"
        try db.execute(sql: "PRAGMA synchronous = \(synchronous)")
        // What a burst made of the log is given back to the disk at the next checkpoint.
        try db.execute(sql: "PRAGMA journal_size_limit = 4194304")
        if let bytes = options.maximumFileSize {
            let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
            _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(max(bytes / max(page, 1), 1))")
        }
    }
}
