internal import AssayCore
internal import NIOCore
internal import Synchronization

/// Counts the open connections, and makes room for new ones.
final class OpenConnections: Sendable {
    private static let open = Metric.gauge("ext_authz_connections", "Connections of ext_authz that are open.")
    private static let refused = Metric.counter(
        "ext_authz_connections_refused_total", "Connections of ext_authz that were closed because there were too many.")
    private static let displaced = Metric.counter(
        "ext_authz_connections_displaced_total",
        "Idle connections of ext_authz that were closed to make room for new ones.")

    static let metrics = [open, refused, displaced]

    private let meter: Meter
    private let table: Mutex<ConnectionTable>

    init(_ limits: ExtAuthzLimits, _ meter: Meter) {
        self.meter = meter
        table = Mutex(ConnectionTable(most: limits.maximumConnections, ofPeer: limits.connectionsPerPeer))
        meter.set(0, of: OpenConnections.open)
        meter.add(0, to: OpenConnections.refused)
        meter.add(0, to: OpenConnections.displaced)
    }

    /// Accepts one more connection, if needed in place of another, which is closed; false when there is no room.
    func begin(_ connection: OpenConnection) -> Bool {
        switch table.withLock({ $0.admit(connection) }) {
        case .admitted:
            meter.add(to: OpenConnections.open)
            return true
        case .inPlaceOf(let leaving):
            meter.add(to: OpenConnections.open)
            meter.add(to: OpenConnections.displaced)
            leaving.close()
            return true
        case .refused:
            meter.add(to: OpenConnections.refused)
            return false
        }
    }

    /// Closes all connections, and accepts none from now on.
    func endAll() {
        for connection in table.withLock({ $0.close() }) { connection.close() }
    }

    /// A connection that ``begin(_:)`` accepted is closed.
    func end(_ connection: OpenConnection) {
        table.withLock { $0.remove(connection) }
        meter.add(-1, to: OpenConnections.open)
    }
}
