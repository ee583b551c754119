internal import AssayCore

/// Where a server is in the history of its cluster: every standby that takes over begins another timeline.
///
/// A primary that was given up and comes back has an older timeline, and lacks what was confirmed since.
struct ServerHistory: Equatable, Sendable {
    /// The number of the cluster, which all copies of its files have.
    let cluster: Int64
    let timeline: Int64

    /// Reads it from a server that accepts writes; returns nil when the server does not say.
    static func read(_ db: Connection, until end: ContinuousClock.Instant) throws -> ServerHistory? {
        let statement = Statement(
            "history", [],
            """
            SELECT s.system_identifier::int8,
            ('x' || left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::bit(32)::int8
            FROM pg_catalog.pg_control_system() AS s
            """)
        do {
            let row = try db.run(Step(statement), until: end).single()
            guard let cluster = try row.optionalInteger(0), let timeline = try row.optionalInteger(1) else {
                return nil
            }
            return ServerHistory(cluster: cluster, timeline: timeline)
        } catch is ServerError {
            // Servers with PostgreSQL's protocol have other histories, or none.
            return nil
        }
    }

    /// Whether another server of the same cluster took over from this one.
    func isBefore(_ other: ServerHistory) -> Bool { cluster == other.cluster && timeline < other.timeline }
}
