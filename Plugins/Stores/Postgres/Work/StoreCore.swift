internal import AssayCore
internal import Logging
internal import Synchronization

/// What the threads of a store share.
final class StoreCore: Sendable {
    let location: PostgresLocation
    let settings: ConnectionSettings
    let queue: RequestQueue
    let statements: Statements
    let logger: Logger
    /// The identity of the database that was opened.
    private let identity: [UInt8]
    private let reason = Mutex<String?>(nil)
    /// The latest that a server told.
    private let history: Mutex<ServerHistory?>
    private let threads: WorkerThreads

    var place: String { settings.place }

    /// - `history`: that of the server by which the store was opened.
    init(
        _ location: PostgresLocation, _ settings: ConnectionSettings, identity: [UInt8], history: ServerHistory?,
        logger: Logger
    ) {
        self.logger = logger
        self.location = location
        self.settings = settings
        self.identity = identity
        self.history = Mutex(history)
        queue = RequestQueue(place: settings.place, timeout: location.timeout)
        statements = Statements(schema: location.schema)
        threads = WorkerThreads(count: location.pool + 1, waiting: 0)
    }

    /// Starts the threads: one for each connection, and one that tells callers whose time is up.
    func start() throws(PostgresStoreError) {
        for _ in 0..<location.pool {
            queue.threadBegins()
            let isStarted = threads.start { [self] in
                defer { queue.threadEnds() }
                ConnectionWorker(self).run()
            }
            guard isStarted else {
                queue.threadEnds()
                throw noThreads()
            }
        }
        let isStarted = threads.start { [queue] in
            while !queue.isClosed {
                pause(.milliseconds(50))
                queue.expire()
            }
        }
        guard isStarted else { throw noThreads() }
    }

    private func noThreads() -> PostgresStoreError {
        queue.close()
        return PostgresStoreError(.failed, "\(place): the system starts no more threads")
    }

    /// Connects, and looks whether the server and its database are still what they were.
    ///
    /// - Throws: ``PostgresStoreError``.
    func connect() throws(PostgresStoreError) -> Connection {
        do {
            let db = try Self.connect(location, settings)
            let facts = try ServerFacts.read(db, location, place)
            try facts.check(location, place)
            try recognise(facts.mark)
            try follow(facts.history)
            db.history = facts.history
            return db
        } catch {
            throw Self.known(error, place)
        }
    }

    /// Notes the history of a server.
    ///
    /// - Throws: when another server has taken over from it.
    func follow(_ found: ServerHistory?) throws(PostgresStoreError) {
        guard let found else { return }
        let latest = history.withLock { history in
            if let history, found.isBefore(history) { return history }
            history = found
            return found
        }
        guard found != latest else { return }
        throw PostgresStoreError(
            .replaced,
            "\(place): the server has timeline \(found.timeline), and one with timeline \(latest.timeline) took over from "
                + "it; stop the former primary; only where a backup was restored on purpose, restart the servers")
    }

    static func connect(
        _ location: PostgresLocation, _ settings: ConnectionSettings
    ) throws(PostgresStoreError) -> Connection {
        try Connection(settings, timeout: location.timeout.wholeSeconds)
    }

    static func known(_ error: any Error, _ place: String) -> PostgresStoreError {
        switch error {
        case let error as PostgresStoreError: error
        case let error as ServerError: error.error(at: place)
        case let error as ConnectionLost where error.isTimeout:
            PostgresStoreError(.timedOut, "\(place): \(error.reason)")
        case let error as ConnectionLost:
            PostgresStoreError(.cannotConnect, "\(place): the connection was lost: \(error.reason)")
        default: PostgresStoreError(.failed, "\(place): \(error)")
        }
    }

    /// Compares the mark of the schema with that of the one that was opened.
    func recognise(_ mark: SchemaMark?) throws(PostgresStoreError) {
        let found: String? =
            if let mark {
                mark.identity == identity
                    ? nil : "\(place): another database is in the place of the one that was opened"
            } else {
                "\(place): the tables that were opened are gone"
            }
        let before = reason.withLock { reason in
            defer { reason = found }
            return reason
        }
        if let found {
            let words =
                "\(found); restore the right one; a restart would use this one, and what only the other one has (what was used, keys in the "
                + "state) would be lost"
            if before.isNil { logger.error("\(words)") }
            throw PostgresStoreError(.replaced, words)
        }
        if !before.isNil { logger.notice("\(place): the database that was opened is back") }
        try mark?.check(place)
    }

    /// Why nothing must be decided; nil as far as is known.
    var blockingReason: String? { reason.withLock { $0 } }
}
