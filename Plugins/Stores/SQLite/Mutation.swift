internal import AssayKit
internal import Foundation
internal import GRDB

/// A write, as a value: what a transaction carries out for one caller.
enum Mutation: Sendable {
    case insert(StateKey, value: [UInt8], expires: Instant?)
    case advance(StateKey, to: UInt64)
    case put(StateKey, value: [UInt8], expires: Instant?)
    case delete(StateKey)
    case purge(limit: Int)

    /// The bytes that it keeps in memory while it waits, roughly.
    var bytes: Int {
        switch self {
        case .insert(let key, let value, _), .put(let key, let value, _): key.bytes + value.count
        case .advance(let key, _), .delete(let key): key.bytes
        case .purge: 0
        }
    }

    var isPurge: Bool {
        if case .purge = self { true } else { false }
    }

    /// Carries it out within the current transaction. Returns the number of rows that changed.
    func apply(to db: Database, now: Instant) throws -> Int {
        switch self {
        case .insert(let key, let value, let expires):
            return try db.change(
                """
                INSERT INTO entry (space, name, value, expires) VALUES (?, ?, ?, ?)
                ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
                WHERE expires <= ?
                """, [key.spaceBlob, key.nameBlob, value.blob, expires?.milliseconds, now.milliseconds])
        case .advance(let key, let value):
            // Absent counts as 0, and nothing is greater than itself.
            guard value > 0 else { return 0 }
            let blob = withUnsafeBytes(of: value.bigEndian) { Array($0) }.blob
            return try db.change(
                """
                INSERT INTO counter (space, name, value) VALUES (?, ?, ?)
                ON CONFLICT (space, name) DO UPDATE SET value = excluded.value WHERE excluded.value > value
                """, [key.spaceBlob, key.nameBlob, blob])
        case .put(let key, let value, let expires):
            return try db.change(
                """
                INSERT INTO entry (space, name, value, expires) VALUES (?, ?, ?, ?)
                ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
                """, [key.spaceBlob, key.nameBlob, value.blob, expires?.milliseconds])
        case .delete(let key):
            return try db.change("DELETE FROM entry WHERE space = ? AND name = ?", [key.spaceBlob, key.nameBlob])
        case .purge(let limit):
            return try db.change(
                """
                DELETE FROM entry WHERE (space, name) IN (
                    SELECT space, name FROM entry WHERE expires <= ? ORDER BY expires LIMIT ?
                )
                """, [now.milliseconds, limit])
        }
    }
}

extension Database {
    /// Runs a statement that is compiled once for each connection. Returns the number of rows that it changed.
    fileprivate func change(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: arguments)
        return changesCount
    }
}
