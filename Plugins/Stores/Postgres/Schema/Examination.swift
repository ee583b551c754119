internal import AssayCore
internal import AssayKit

/// Looks whether the role may do what operations do, before the first of them.
struct Rights {
    let db: Connection
    let location: PostgresLocation
    let place: String

    func check() throws {
        let statements = Statements(schema: location.schema)
        // Preparing them finds missing tables and columns; the rights are looked up by their names.
        let rights = Statement(
            "rights", [Statement.text],
            """
            SELECT t FROM unnest(ARRAY['entry', 'counter', 'purged']) AS t
            WHERE NOT has_table_privilege($1 || '.' || t, 'SELECT') OR NOT has_table_privilege($1 || '.' || t, 'INSERT')
            OR NOT has_table_privilege($1 || '.' || t, 'UPDATE') OR NOT has_table_privilege($1 || '.' || t, 'DELETE')
            """)
        do {
            let end = ContinuousClock.now + location.timeout
            let lacking = try db.run(Step(rights, [.text(location.schema)]), until: end)
            guard lacking.rows.isEmpty else {
                let tables = try lacking.rows.map { try $0.text(0) }.joined(separator: ", ")
                throw PostgresStoreError(
                    .permissionDenied,
                    "\(place): the role needs SELECT, INSERT, UPDATE and DELETE on the tables \(tables) of the schema")
            }
            let look = [Parameter.bytes([]), .bytes([]), .integer(0)]
            try db.run([Step(statements.get, look)], until: end)
        } catch let error as ServerError {
            throw error.error(at: place)
        }
    }
}

/// What `assay state check` says about a database.
struct Examination {
    private let db: Connection
    private let location: PostgresLocation
    private let place: String

    init(_ db: Connection, _ location: PostgresLocation, _ place: String) {
        self.db = db
        self.location = location
        self.place = place
    }

    func findings() throws -> StateStoreFindings {
        let facts = try ServerFacts.read(db, location, place)
        guard let mark = facts.mark else {
            throw PostgresStoreError(.foreignSchema, "\(place): the schema has no tables of a store")
        }
        var problems = facts.weaknesses.map { "\(place): \($0): the server may forget what it has confirmed" }
        if facts.fullPageWrites.isExactly("off") {
            problems.append("\(place): full_page_writes=off: a loss of power may damage the tables")
        }
        if facts.isReadOnly { problems.append("\(place): the server accepts no writes now") }
        do throws(PostgresStoreError) { try mark.check(place) } catch { problems.append(error.message) }
        let contents = [
            "PostgreSQL \(facts.version / 10_000).\(facts.version % 10_000), tables of version \(mark.version)",
            try counts(),
            "fsync=\(facts.fsync), full_page_writes=\(facts.fullPageWrites), synchronous_commit=\(facts.synchronousCommit)",
            try replication(),
        ]
        return StateStoreFindings(problems: problems, contents: contents)
    }

    /// The server's estimates: counting a large table takes minutes.
    private func counts() throws -> String {
        let statement = Statement(
            "estimates", [Statement.text],
            """
            SELECT c.relname::text, greatest(c.reltuples, 0)::int8, pg_total_relation_size(c.oid)::int8
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relname IN ('entry', 'counter') ORDER BY c.relname
            """)
        let table = try run(Step(statement, [.text(location.schema)]))
        return try table.rows.map { row in
            "about \(try row.integer(1)) rows in \(try row.text(0)) (\(try row.integer(2) >> 10) KiB)"
        }.joined(separator: ", ")
    }

    private func replication() throws -> String {
        let statement = Statement(
            "standbys", [],
            """
            SELECT count(*)::int8, (count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))::int8,
            coalesce(current_setting('synchronous_standby_names', true), '') FROM pg_catalog.pg_stat_replication
            """)
        do {
            let row = try run(Step(statement)).single()
            let (all, synchronous) = (try row.integer(0), try row.integer(1))
            guard try !row.text(2).isEmpty else {
                return "\(all) standbys, none synchronous: a failover may lose what was confirmed last"
            }
            return "\(all) standbys, \(synchronous) of them seen as synchronous"
        } catch is PostgresStoreError {
            return "replication is not visible to the role"
        }
    }

    private func run(_ step: Step) throws -> Table {
        do {
            return try db.run(step, until: .now + location.timeout)
        } catch let error as ServerError {
            throw error.error(at: place)
        }
    }
}
