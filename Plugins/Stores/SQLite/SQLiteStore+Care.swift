internal import AssayCore
public import AssayKit

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension SQLiteStore {
    /// Writes a complete copy to another file (0600) with SQLite's `VACUUM INTO`: everything that is committed, also in
    /// the write-ahead log.
    ///
    /// Blocks until the disk has written it.
    public static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {
        do {
            try write(location, to: path, entries)
        } catch {
            throw StateStoreOpeningError(SQLiteStoreError(error, path: location).message)
        }
    }

    /// Looks at every page and every index (SQLite's `integrity_check`): seconds for a gigabyte.
    public static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        do {
            return try findings(location)
        } catch {
            throw StateStoreOpeningError(SQLiteStoreError(error, path: location).message)
        }
    }

    private static func write(_ location: String, to path: String, _ entries: [StateKey: [UInt8]]) throws {
        let source = try existing(location)
        let target = try DatabaseFile(path)
        guard target.identity == nil else {
            throw SQLiteStoreError(.cannotOpen, "\(target.path) exists already: nothing was written")
        }
        let draft = try DatabaseFile(target.path + ".partial")
        unlink(draft.path)
        // A folder that is missing may be a disk that is not mounted.
        try draft.create(makesFolder: false)
        defer { unlink(draft.path) }
        try checkLog(source, takesLoss: true)
        let db = try connect(source, .readWrite, Options().busyTimeout)
        do {
            try db.execute("VACUUM INTO '\(draft.path.split(onASCII: "'").joined(separator: "''"))'")
            try add(entries, to: draft)
            try draft.flush()
        } catch {
            // The source is only read.
            let failure = SQLiteStoreError(error, path: target.path)
            guard failure.code == .diskFull else { throw error }
            throw SQLiteStoreError(.diskFull, "\(target.path): no space left for the copy; nothing was written")
        }
        // Unlike a rename, it never replaces a file that was created meanwhile.
        guard link(draft.path, target.path) == 0 else {
            throw SQLiteStoreError(.cannotOpen, "\(target.path): \(String(cString: strerror(errno)))")
        }
        try target.flushFolder()
    }

    private static func findings(_ location: String) throws -> StateStoreFindings {
        let file = try existing(location)
        let problems = try damage(file)
        guard problems.isEmpty else { return StateStoreFindings(problems: problems, contents: []) }
        let db = try connect(file, .queryOnly, Options().busyTimeout)
        let entries = try db.integer("SELECT count(*) FROM entry") ?? 0
        let counters = try db.integer("SELECT count(*) FROM counter") ?? 0
        return StateStoreFindings(
            problems: [],
            contents: [
                "\(entries) entries, \(counters) counters",
                "\(file.byteCount) bytes, and \(file.log.byteCount) in the write-ahead log",
            ])
    }

    private static func damage(_ file: DatabaseFile) throws -> [String] {
        do {
            try checkLog(file)
            let db = try connect(file, .queryOnly, Options().busyTimeout)
            let found = try db.rows("PRAGMA integrity_check(20)") { $0.text(0) }
            return found.count == 1 && found[0].isExactly("ok") ? [] : found.map { "\(file.path): \($0)" }
        } catch {
            return [SQLiteStoreError(error, path: file.path).message]
        }
    }

    private static func existing(_ location: String) throws -> DatabaseFile {
        let file = try DatabaseFile(location)
        guard file.identity != nil else {
            throw SQLiteStoreError(.cannotOpen, "\(file.path): no such file")
        }
        guard file.byteCount + file.log.byteCount > 0 else {
            throw SQLiteStoreError(.cannotOpen, "\(file.path) is empty: it holds no state")
        }
        return file
    }

    private static func add(_ entries: [StateKey: [UInt8]], to file: DatabaseFile) throws {
        let db = try Connection(path: file.path, .readWrite, busyTimeout: .zero)
        try db.transaction(.immediate) {
            // For a copy, everything that was used before it counts as used, whatever was removed.
            _ = try db.change("DELETE FROM purged", [])
            for (key, value) in entries {
                _ = try Mutation.put(key, value: value, expires: nil).apply(to: db, now: Instant(seconds: 0))
            }
        }
    }
}
