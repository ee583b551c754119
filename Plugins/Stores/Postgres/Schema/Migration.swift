internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Makes the tables of a schema, or brings those of an earlier release to the present version.
///
/// Every statement can be run again, and several servers may do so at once.
struct Migration {
    let db: Connection
    let location: PostgresLocation
    let place: String

    /// DDL takes longer than operations.
    private static let timeLimit = Duration.seconds(30)
    private static let mostTries = 20

    /// Statements that others run at the same time.
    private static let races = ["23505", "42P06", "42P07", "42710", "40001", "40P01", "55P03", "XX000"]

    /// Makes what is missing.
    ///
    /// Returns the mark of the schema, and whether anything was made.
    func run() throws -> (mark: SchemaMark, isNew: Bool) {
        for attempt in 1...Self.mostTries {
            do {
                return try attemptOnce()
            } catch let error as ServerError {
                guard attempt < Self.mostTries, Self.races.contains(exactly: error.state) else { throw refusal(error) }
                usleep(useconds_t.random(in: 5_000...50_000))
            }
        }
        throw PostgresStoreError(.conflict, "\(place): other servers change the tables at the same time")
    }

    private func attemptOnce() throws -> (mark: SchemaMark, isNew: Bool) {
        if let mark = try SchemaMark.read(db, location.schema, place, until: .now + location.timeout) {
            try mark.check(place)
            return (mark, false)
        }
        let end = ContinuousClock.now + Self.timeLimit
        let known = Statement(
            "namespace", [Statement.text], "SELECT 1::int8 FROM pg_catalog.pg_namespace WHERE nspname = $1")
        if try db.run(Step(known, [.text(location.schema)]), until: end).rows.isEmpty {
            let make = Statement("make_schema", [], "CREATE SCHEMA IF NOT EXISTS \(location.schema)")
            try db.run([Step(make)], until: end)
        }
        try db.run(
            tables.enumerated().map { Step(Statement("make_\($0.offset)", [], $0.element)) }, until: end)
        // Other servers than PostgreSQL itself may not know these settings, and do without.
        for (index, sql) in storage.enumerated() {
            do {
                try db.run([Step(Statement("set_\(index)", [], sql))], until: end)
            } catch is ServerError {
                continue
            }
        }
        let mark = Statement(
            "make_mark", [Statement.bytea],
            """
            INSERT INTO \(location.schema).store (sole, identity, version, minimum_reader)
            VALUES (true, $1, \(SchemaMark.currentVersion), \(SchemaMark.currentVersion)) ON CONFLICT DO NOTHING
            """)
        try db.run([Step(mark, [.bytes(Randomness.system.bytes(16))])], until: end)
        guard let made = try SchemaMark.read(db, location.schema, place, until: end) else {
            throw PostgresStoreError(.foreignSchema, "\(place): the tables were made, and are not there")
        }
        return (made, true)
    }

    /// The table `store` is the first: it tells whether a schema without rows is one of this store.
    private var tables: [String] {
        let schema = location.schema
        return [
            """
            CREATE TABLE IF NOT EXISTS \(schema).store (
                sole boolean PRIMARY KEY CHECK (sole), identity bytea NOT NULL,
                version integer NOT NULL, minimum_reader integer NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(schema).entry (
                space bytea NOT NULL, name bytea NOT NULL, value bytea NOT NULL, expires bigint,
                PRIMARY KEY (space, name))
            """,
            """
            CREATE INDEX IF NOT EXISTS entry_by_expiry ON \(schema).entry (expires) WHERE expires IS NOT NULL
            """,
            """
            CREATE TABLE IF NOT EXISTS \(schema).counter (
                space bytea NOT NULL, name bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (space, name))
            """,
            """
            CREATE TABLE IF NOT EXISTS \(schema).purged (space bytea PRIMARY KEY, expires bigint NOT NULL)
            """,
        ]
    }

    /// Rows that come and go at a steady rate are cleared away at that rate, whatever the size of the table.
    private var storage: [String] {
        let vacuum =
            "autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, "
            + "autovacuum_vacuum_cost_delay = 1"
        return [
            "ALTER TABLE \(location.schema).entry SET (\(vacuum), autovacuum_analyze_scale_factor = 0.02)",
            "ALTER TABLE \(location.schema).counter SET (\(vacuum), fillfactor = 70)",
            "ALTER TABLE \(location.schema).purged SET (fillfactor = 50)",
        ]
    }

    private func refusal(_ error: ServerError) -> PostgresStoreError {
        guard error.isOf(class: "42501") else { return error.error(at: place) }
        return PostgresStoreError(
            .permissionDenied,
            "\(place): the role may not make the tables: run `assay state migrate` with a role that may, "
                + "or grant it CREATE on the database: \(error.message)", sqlState: error.state)
    }
}
