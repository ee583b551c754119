internal import AssayCore

/// What a server says of itself and of the store's schema.
struct ServerFacts {
    var version: CInt
    /// `on`, `off`; empty where the server has no such setting.
    let fsync: String
    let fullPageWrites: String
    let synchronousCommit: String
    let isReadOnly: Bool
    /// Nil for a standby, and where the server does not say.
    let history: ServerHistory?
    /// The table with the mark of the store; nil when there is none.
    let mark: SchemaMark?

    static let oldestVersion: CInt = 130_000

    /// Sets the session up, and asks.
    ///
    /// - Throws: ``PostgresStoreError``.
    static func read(_ db: Connection, _ location: PostgresLocation, _ place: String) throws -> ServerFacts {
        guard db.serverVersion >= oldestVersion else {
            throw PostgresStoreError(
                .unsupportedServer,
                "\(place): PostgreSQL \(db.serverVersion / 10_000); at least 13 is needed: "
                    + "upgrade the server, or use another one")
        }
        let end = ContinuousClock.now + location.timeout
        let milliseconds = location.timeout.wholeMilliseconds
        // Two transactions that wait for each other do not both give up at once.
        let lockTimeout = milliseconds / 4 - Int64.random(in: 0...max(milliseconds / 16, 1))
        let session = Statement(
            "session", [Statement.text, Statement.text],
            """
            SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
            set_config('default_transaction_isolation', 'read committed', false)
            """)
        let raised = Statement("raise_durability", [], "SELECT set_config('synchronous_commit', 'on', false)")
        let facts = Statement(
            "facts", [],
            """
            SELECT coalesce(current_setting('fsync', true), ''), coalesce(current_setting('full_page_writes', true), ''),
            coalesce(current_setting('synchronous_commit', true), ''),
            coalesce(current_setting('transaction_read_only', true), '')
            """)
        try db.run([Step(session, [.text("\(milliseconds)"), .text("\(lockTimeout)")])], until: end)
        var found = try db.run(Step(facts), until: end).single()
        let weak = ["off", "local", "remote_write"]
        if location.durability == .strict, weak.contains(exactly: try found.text(2)) {
            try db.run([Step(raised)], until: end)
            found = try db.run(Step(facts), until: end).single()
        }
        let isReadOnly = try found.text(3).isExactly("on")
        return ServerFacts(
            version: db.serverVersion, fsync: try found.text(0), fullPageWrites: try found.text(1),
            synchronousCommit: try found.text(2), isReadOnly: isReadOnly,
            history: isReadOnly ? nil : try ServerHistory.read(db, until: end),
            mark: try SchemaMark.read(db, location.schema, place, until: end))
    }

    /// Why what the server confirms may be lost with its power; empty when it is not.
    var weaknesses: [String] {
        var found: [String] = []
        if fsync.isExactly("off") { found.append("fsync=off") }
        if synchronousCommit.isExactly("off") { found.append("synchronous_commit=off") }
        return found
    }

    /// - Throws: when the server does not keep what the store promises.
    func check(_ location: PostgresLocation, _ place: String) throws(PostgresStoreError) {
        guard !isReadOnly else {
            throw PostgresStoreError(
                .readOnly,
                "\(place): the server accepts no writes: a standby, or default_transaction_read_only is on; "
                    + "name all hosts of the cluster and target_session_attrs=read-write")
        }
        guard location.durability == .relaxed || weaknesses.isEmpty else {
            throw PostgresStoreError(
                .notDurable,
                "\(place): the server may forget what it has confirmed (\(weaknesses.joined(separator: ", "))), so that "
                    + "what was used could be used again; change the setting, or accept the risk with #durability=relaxed"
            )
        }
    }
}
