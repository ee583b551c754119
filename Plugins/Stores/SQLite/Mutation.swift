internal import AssayCore
internal import AssayKit

/// A write, as a value: what a transaction carries out for one caller.
enum Mutation: Sendable {
    case commit([StateChange])
    case put(StateKey, value: [UInt8], expires: Instant?)
    case delete(StateKey)
    /// Removes what has expired by an instant.
    case purge(limit: Int, Instant)

    /// The bytes that it keeps in memory while it waits, roughly.
    var bytes: Int {
        switch self {
        case .commit(let changes): changes.reduce(0) { $0 + $1.bytes }
        case .put(let key, let value, _): key.bytes + value.count
        case .delete(let key): key.bytes
        case .purge: 0
        }
    }

    var isPurge: Bool {
        if case .purge = self { true } else { false }
    }

    /// Carries it out within the current transaction.
    ///
    /// Returns the number of rows that were removed, or the index of the change that was refused; nil for neither.
    func apply(to db: Connection, now: Instant) throws -> Int? {
        switch self {
        case .commit(let changes):
            if changes.count == 1 { return try changes[0].isMade(in: db, now: now) ? nil : 0 }
            return try db.undoing { try changes.indices.first { try !changes[$0].isMade(in: db, now: now) } }
        case .put(let key, let value, let expires):
            _ = try db.change(
                """
                INSERT INTO entry (space, name, value, expires) VALUES (?, ?, ?, ?)
                ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
                """, key.values + [.bytes(value), .time(expires)])
            return nil
        case .delete(let key):
            _ = try db.change("DELETE FROM entry WHERE space = ? AND name = ?", key.values)
            return nil
        case .purge(let limit, let end):
            let removed = try db.rows(
                """
                DELETE FROM entry WHERE (space, name) IN (
                    SELECT space, name FROM entry WHERE expires <= ? ORDER BY expires LIMIT ?
                ) RETURNING space, expires
                """, [.time(end), .integer(Int64(limit))]
            ) { (space: $0.bytes(0), expires: $0.integer(1) ?? .min) }
            let ends = Dictionary(removed.map { ($0.space, $0.expires) }, uniquingKeysWith: max)
            for (space, expires) in ends {
                _ = try db.change(
                    """
                    INSERT INTO purged (space, expires) VALUES (?, ?)
                    ON CONFLICT (space) DO UPDATE SET expires = max(expires, excluded.expires)
                    """, [.bytes(space), .integer(expires)])
            }
            return removed.count
        }
    }
}

extension StateChange {
    fileprivate var bytes: Int {
        switch self {
        case .insert(let key, let value, _, _): key.bytes + value.count
        case .advance(let key, _): key.bytes
        }
    }

    /// Makes the change, if its condition holds; returns whether it did.
    fileprivate func isMade(in db: Connection, now: Instant) throws -> Bool {
        switch self {
        case .insert(let key, let value, let expires, _):
            // A purged entry may count as unexpired again, because the clock was set back since.
            return try db.change(
                """
                INSERT INTO entry (space, name, value, expires) SELECT ?1, ?2, ?3, ?4
                WHERE NOT EXISTS (SELECT 1 FROM purged WHERE space = ?1 AND expires >= ?4)
                ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
                WHERE expires <= ?5
                """, key.values + [.bytes(value), .time(expires), .time(now)]) > 0
        case .advance(let key, let value):
            // Absent counts as 0, and nothing is greater than itself.
            guard value > 0 else { return false }
            let blob = withUnsafeBytes(of: value.bigEndian) { Array($0) }
            return try db.change(
                """
                INSERT INTO counter (space, name, value) VALUES (?, ?, ?)
                ON CONFLICT (space, name) DO UPDATE SET value = excluded.value WHERE excluded.value > value
                """, key.values + [.bytes(blob)]) > 0
        }
    }
}

extension StateKey {
    /// What names an entry in a statement.
    fileprivate var values: [Value] { [.utf8(space), .utf8(name)] }

    fileprivate var bytes: Int { space.utf8.count + name.utf8.count }
}
