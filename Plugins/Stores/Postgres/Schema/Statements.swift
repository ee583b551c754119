internal import AssayCore
internal import AssayKit

/// The statements on the tables of one schema.
///
/// Each changes its rows under a condition that it checks itself.
struct Statements: Sendable {
    private let schema: String
    let insert: Statement
    let advance: Statement
    let put: Statement
    let delete: Statement
    let get: Statement
    let listFirst: Statement
    let listAfter: Statement
    let markExpired: Statement
    let removeExpired: Statement

    /// - `schema`: a name that needs no quotes.
    init(schema: String) {
        self.schema = schema
        let (bytea, int8) = (Statement.bytea, Statement.int8)
        // An entry that was removed may count as unexpired again, because the clock was set back since.
        insert = Statement(
            "insert", [bytea, bytea, bytea, int8, int8],
            """
            INSERT INTO \(schema).entry AS e (space, name, value, expires) SELECT $1, $2, $3, $4
            WHERE NOT EXISTS (SELECT 1 FROM \(schema).purged p WHERE p.space = $1 AND p.expires >= $4)
            ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
            WHERE e.expires <= $5
            """)
        advance = Statement(
            "advance", [bytea, bytea, bytea],
            """
            INSERT INTO \(schema).counter AS c (space, name, value) VALUES ($1, $2, $3)
            ON CONFLICT (space, name) DO UPDATE SET value = excluded.value WHERE excluded.value > c.value
            """)
        put = Statement(
            "put", [bytea, bytea, bytea, int8],
            """
            INSERT INTO \(schema).entry (space, name, value, expires) VALUES ($1, $2, $3, $4)
            ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
            """)
        delete = Statement(
            "delete", [bytea, bytea], "DELETE FROM \(schema).entry WHERE space = $1 AND name = $2")
        get = Statement(
            "get", [bytea, bytea, int8],
            """
            SELECT value FROM \(schema).entry WHERE space = $1 AND name = $2 AND (expires IS NULL OR expires > $3)
            """)
        let list = { (operation: String) in
            """
            SELECT name, value, expires FROM \(schema).entry
            WHERE space = $1 AND name \(operation) $2 AND (expires IS NULL OR expires > $3) ORDER BY name LIMIT $4
            """
        }
        listFirst = Statement("list_first", [bytea, bytea, int8, int8], list(">="))
        listAfter = Statement("list_after", [bytea, bytea, int8, int8], list(">"))
        // $1 after, $2 up to, $3 how many rows: the spaces are taken in one order by all servers.
        markExpired = Statement(
            "mark_expired", [int8, int8, int8],
            """
            INSERT INTO \(schema).purged AS p (space, expires)
            SELECT space, max(expires) FROM \(schema).entry
            WHERE expires > $1 AND expires <= coalesce((
                SELECT expires FROM \(schema).entry WHERE expires > $1 AND expires <= $2
                ORDER BY expires OFFSET $3 LIMIT 1), $2)
            GROUP BY space ORDER BY space
            ON CONFLICT (space) DO UPDATE SET expires = greatest(p.expires, excluded.expires)
            RETURNING space, expires
            """)
        // $1 spaces and $2 how far each may be removed, $3 the last of $2, $4 where to begin, $5 how many rows.
        removeExpired = Statement(
            "remove_expired", [0, 0, int8, int8, int8],
            """
            DELETE FROM \(schema).entry WHERE (space, name) IN (
                SELECT e.space, e.name FROM \(schema).entry e
                WHERE e.expires >= $4 AND e.expires <= $3 AND e.expires <= (
                    SELECT max(p.expires) FROM unnest($1::bytea[], $2::bigint[]) AS p (space, expires)
                    WHERE p.space = e.space)
                ORDER BY e.expires LIMIT $5 FOR UPDATE SKIP LOCKED)
            RETURNING expires
            """)
    }

    /// Makes several changes, or none.
    ///
    /// The conditions of all are looked up first; each change is then made if the one before was. One that meets a
    /// concurrent change of another transaction divides by zero, which rolls everything back, to be done again.
    ///
    /// The first columns are the conditions, in the order of the changes.
    ///
    /// - `changes`: in ``LockOrder``, so that two commits do not wait for each other, and few statements exist.
    func commit(_ changes: [StateChange], now: Instant) -> Step {
        var draft = CommitDraft(schema: schema, now: now)
        for change in changes { draft.add(change) }
        return draft.step
    }
}

/// The statement for several changes, while it is composed.
private struct CommitDraft {
    let schema: String
    private var types = [Statement.int8]
    private var parameters: [Parameter]
    private var conditions: [String] = []
    /// What comes before and after the condition of each write.
    private var writes: [(head: String, tail: String)] = []
    private var kinds = ""

    init(schema: String, now: Instant) {
        self.schema = schema
        parameters = [.time(now)]
    }

    private mutating func bind(_ parameter: Parameter, _ type: UInt32 = Statement.bytea) -> String {
        types.append(type)
        parameters.append(parameter)
        return "$\(types.count)"
    }

    mutating func add(_ change: StateChange) {
        let space = bind(.utf8(change.key.space))
        let name = bind(.utf8(change.key.name))
        switch change {
        case .insert(_, let bytes, let end, _):
            let (value, expires) = (bind(.bytes(bytes)), bind(.time(end), Statement.int8))
            kinds += "i"
            conditions.append(
                """
                NOT EXISTS (SELECT 1 FROM \(schema).purged WHERE space = \(space) AND expires >= \(expires))
                AND NOT EXISTS (SELECT 1 FROM \(schema).entry WHERE space = \(space) AND name = \(name)
                    AND (expires IS NULL OR expires > $1))
                """)
            writes.append(
                (
                    """
                    INSERT INTO \(schema).entry AS e (space, name, value, expires)
                    SELECT \(space), \(name), \(value), \(expires)
                    """,
                    """
                    ON CONFLICT (space, name) DO UPDATE SET value = excluded.value, expires = excluded.expires
                    WHERE e.expires <= $1 RETURNING 1
                    """
                ))
        case .advance(_, let number):
            let value = bind(.counter(number))
            kinds += "a"
            conditions.append(
                """
                \(value) > '\\x0000000000000000'::bytea AND NOT EXISTS (
                    SELECT 1 FROM \(schema).counter WHERE space = \(space) AND name = \(name) AND value >= \(value))
                """)
            writes.append(
                (
                    "INSERT INTO \(schema).counter AS c (space, name, value) SELECT \(space), \(name), \(value)",
                    """
                    ON CONFLICT (space, name) DO UPDATE SET value = excluded.value
                    WHERE excluded.value > c.value RETURNING 1
                    """
                ))
        }
    }

    var step: Step {
        let columns = conditions.indices.map { "c\($0)" }
        let all = columns.joined(separator: " AND ")
        let looks = zip(conditions, columns).map { "(\($0)) AS \($1)" }.joined(separator: ", ")
        var parts = ["ok AS MATERIALIZED (SELECT \(looks))"]
        // The order of execution is part of the statement: each write waits for the one before.
        for (index, write) in writes.enumerated() {
            let before = index == 0 ? "" : " AND EXISTS (SELECT 1 FROM m\(index - 1))"
            parts.append("m\(index) AS (\(write.head) FROM ok WHERE \(all)\(before) \(write.tail))")
        }
        let sql = """
            WITH \(parts.joined(separator: ", "))
            SELECT \(columns.joined(separator: ", ")),
            CASE WHEN \(all) THEN 1 / (SELECT count(*) FROM m\(writes.count - 1)) ELSE 0 END FROM ok
            """
        return Step(Statement("commit_\(kinds)", types, sql), parameters)
    }
}

extension Parameter {
    /// Eight bytes, most significant first: PostgreSQL's integers end at `Int64.max`, bytes compare the same for all.
    static func counter(_ value: UInt64) -> Parameter { .bytes(withUnsafeBytes(of: value.bigEndian) { Array($0) }) }
}

/// The order in which transactions lock rows.
struct LockOrder: Sendable, Comparable {
    private let isCounter: Bool
    private let space: ExactText
    private let name: ExactText

    init(_ key: StateKey, isCounter: Bool) {
        self.isCounter = isCounter
        space = ExactText(key.space)
        name = ExactText(key.name)
    }

    init(_ change: StateChange) {
        switch change {
        case .insert(let key, _, _, _): self.init(key, isCounter: false)
        case .advance(let key, _): self.init(key, isCounter: true)
        }
    }

    static func < (left: LockOrder, right: LockOrder) -> Bool {
        if left.isCounter != right.isCounter { return !left.isCounter }
        if left.space != right.space { return left.space < right.space }
        return left.name < right.name
    }
}
