internal import AssayCore

/// The tables of the store, and the marks by which a file is known as one.
///
/// Spaces and names are BLOBs of UTF-8: compared byte by byte, also after a NUL. A counter is a BLOB of eight bytes,
/// most significant first: SQLite's integers end at `Int64.max`, bytes compare the same for all `UInt64`.
enum Schema {
    /// "Asay" in ASCII: `PRAGMA application_id` of every file that this store made.
    static let applicationID = 0x4173_6179
    /// `PRAGMA user_version`: raised when an older release could no longer read what this one writes.
    static let version = 1

    /// What a file is before anything is written to it.
    enum State {
        case empty
        case current
    }

    /// Recognises a file, within a transaction of the caller; by reading alone, so that a foreign file stays as it was.
    static func inspect(_ db: Connection, path: String) throws -> State {
        let application = try db.integer("PRAGMA application_id") ?? 0
        let found = try db.integer("PRAGMA user_version") ?? 0
        if application != applicationID {
            let objects = try db.integer("SELECT count(*) FROM sqlite_schema") ?? 0
            guard application == 0, found == 0, objects == 0 else {
                throw SQLiteStoreError(
                    .foreignDatabase, "\(path): an SQLite database of another program; nothing was changed")
            }
            return .empty
        }
        guard found <= version else {
            throw SQLiteStoreError(
                .newerSchema,
                "\(path): written by a later release (format \(found), this one knows up to \(version)); "
                    + "use that release or another file")
        }
        return .current
    }

    /// Makes the table that files of version 0.2 lack: up to when entries of a space have expired and were removed.
    ///
    /// That version still uses such a file, and writes nothing there.
    static func extend(_ db: Connection) throws {
        guard try !has("purged", db) else { return }
        try db.execute(
            """
            CREATE TABLE IF NOT EXISTS purged (
                space BLOB NOT NULL PRIMARY KEY, expires INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """)
    }

    /// Notes in the file itself that the write-ahead log, which has something in it by now, belongs to it until ``mergeLog(_:)``.
    ///
    /// Former versions still use such a file, and write no note.
    static func noteLog(_ db: Connection) throws {
        guard try !hasNote(db) else { return }
        try db.execute(
            """
            CREATE TABLE IF NOT EXISTS kept_log (note INTEGER NOT NULL PRIMARY KEY) STRICT;
            INSERT OR IGNORE INTO kept_log VALUES (1);
            """)
        // In the log alone it could not say that the log is lost. The log itself keeps its size.
        try db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }

    /// Writes the log into the file and removes it, so that the file is whole by itself; does nothing while others use the file.
    static func mergeLog(_ db: Connection) throws {
        // The note first: who is killed in between leaves a whole file.
        try db.execute("DELETE FROM kept_log")
        guard let mode = try? db.changeJournal(to: "DELETE"), mode.isExactly("delete") else { return try noteLog(db) }
    }

    static func hasNote(_ db: Connection) throws -> Bool {
        guard try has("kept_log", db) else { return false }
        return try db.integer("SELECT count(*) FROM kept_log") != 0
    }

    private static func has(_ table: String, _ db: Connection) throws -> Bool {
        try db.integer("SELECT count(*) FROM sqlite_schema WHERE name = '\(table)'") == 1
    }

    /// Makes the tables of an empty file, in the one transaction that also marks it.
    static func create(_ db: Connection, path: String) throws {
        try db.transaction(.immediate) {
            // Another process may have been quicker.
            guard try inspect(db, path: path) == .empty else { return }
            try db.execute(
                """
                CREATE TABLE entry (
                    space BLOB NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL, expires INTEGER,
                    PRIMARY KEY (space, name)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX entry_by_expiry ON entry (expires) WHERE expires IS NOT NULL;
                CREATE TABLE counter (
                    space BLOB NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL CHECK (length(value) = 8),
                    PRIMARY KEY (space, name)
                ) STRICT, WITHOUT ROWID;
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
        }
    }
}
