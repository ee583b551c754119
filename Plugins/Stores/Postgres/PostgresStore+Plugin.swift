internal import AssayCore
public import AssayKit
internal import Logging

extension PostgresStore: StateStorePlugin {
    /// `postgres`, followed by libpq's URL or settings, and by options after `#`.
    public static let descriptor = StorageDescriptor(
        scheme: "postgres", version: AssayVersion.text,
        summary: "State in a PostgreSQL database, for servers on several machines.",
        location: "//USER@HOST/DATABASE[#OPTIONS]",
        posture: SecurityPosture(
            proves: "What was used once stays used on every server, also across a loss of power of the database.",
            trusts: [
                "the database and its administrators", "every role that can write the schema",
                "with asynchronous replication: that no failover happens, which loses what was confirmed last",
            ]),
        survival: .powerLoss, sharing: .servers, aliases: ["postgresql"])

    /// Connects, makes the tables if they are missing, and checks what the server promises.
    ///
    /// - Throws: `StateStoreOpeningError`; its message never holds a password.
    public static func open(
        _ location: String, host: StorageHost
    ) async throws(StateStoreOpeningError) -> PostgresStore {
        try await opening { () throws(PostgresStoreError) -> PostgresStore in
            let location = try PostgresLocation(location)
            let settings = try ConnectionSettings(location)
            let (mark, _, history) = try prepare(location, settings)
            let core = StoreCore(location, settings, identity: mark.identity, history: history, logger: host.logger)
            if settings.isUnverified {
                core.logger.warning(
                    """
                    \(core.place): the server's certificate is not verified, so that anyone on the way can read and \
                    change the state; use sslmode=verify-full and sslrootcert=PATH
                    """
                )
            }
            if settings.showsPassword {
                core.logger.warning(
                    "\(core.place): the location has a password, which other users of the machine can see; use #password=file:PATH"
                )
            }
            if location.durability == .relaxed {
                core.logger.warning(
                    "\(core.place): with durability=relaxed a loss of power may make used tokens usable once more")
            }
            try core.start()
            return PostgresStore(core, clock: host.clock)
        }
    }

    /// Makes the tables, or changes those of an earlier release, with a role that may; servers then need no such right.
    public static func migrate(_ location: String) async throws(StateStoreOpeningError) -> String {
        try await opening { () throws(PostgresStoreError) -> String in
            let location = try PostgresLocation(location)
            let settings = try ConnectionSettings(location)
            let (mark, isNew, _) = try prepare(location, settings)
            return isNew
                ? "\(settings.place): the tables were made, version \(mark.version)"
                : "\(settings.place): nothing to do, the tables have version \(mark.version)"
        }
    }

    /// Always fails: PostgreSQL's own tools make copies.
    public static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {
        throw StateStoreOpeningError(
            "postgres: copy the state with pg_dump --schema=assay --format=custom --file=FILE, or with your backups of the "
                + "whole server; after a restore, mark the state as a copy before servers start, as the documentation of the store shows"
        )
    }

    /// Says what the server and the tables are, and what the server does not promise; changes nothing.
    public static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        try await opening { () throws(PostgresStoreError) -> StateStoreFindings in
            let location = try PostgresLocation(location)
            let settings = try ConnectionSettings(location)
            do {
                return try Examination(StoreCore.connect(location, settings), location, settings.place).findings()
            } catch {
                throw StoreCore.known(error, settings.place)
            }
        }
    }

    /// Connects once, for the tables and the checks.
    private static func prepare(
        _ location: PostgresLocation, _ settings: ConnectionSettings
    ) throws(PostgresStoreError) -> (mark: SchemaMark, isNew: Bool, history: ServerHistory?) {
        do {
            let db = try StoreCore.connect(location, settings)
            let facts = try ServerFacts.read(db, location, settings.place)
            try facts.check(location, settings.place)
            let made = try Migration(db: db, location: location, place: settings.place).run()
            try Rights(db: db, location: location, place: settings.place).check()
            return (made.mark, made.isNew, facts.history)
        } catch {
            throw StoreCore.known(error, settings.place)
        }
    }

    /// Does work that waits for the server on a thread of its own.
    private static func opening<Value: Sendable>(
        _ body: @escaping @Sendable () throws(PostgresStoreError) -> Value
    ) async throws(StateStoreOpeningError) -> Value {
        do {
            return try await WorkerThreads(count: 1, waiting: 1).run(body)
        } catch let error as PostgresStoreError {
            throw StateStoreOpeningError(error.message)
        } catch {
            throw StateStoreOpeningError("postgres: \(error)")
        }
    }
}
