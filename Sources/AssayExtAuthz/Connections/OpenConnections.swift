internal import AssayKit
internal import Synchronization

/// Counts the open connections, and says whether there may be one more.
final class OpenConnections: Sendable {
    private static let open = Metric.gauge("ext_authz_connections", "Connections of ext_authz that are open.")
    private static let refused = Metric.counter(
        "ext_authz_connections_refused_total", "Connections of ext_authz that were closed because there were too many.")

    private let most: Int
    private let meter: Meter
    private let count = Mutex(0)

    init(most: Int, _ meter: Meter) {
        self.most = most
        self.meter = meter
        meter.set(0, of: OpenConnections.open)
        meter.add(0, to: OpenConnections.refused)
    }

    /// Counts one more; false when there may be none.
    func begin() -> Bool {
        let hasRoom = count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        if hasRoom { meter.add(to: OpenConnections.open) } else { meter.add(to: OpenConnections.refused) }
        return hasRoom
    }

    func end() {
        count.withLock { $0 -= 1 }
        meter.add(-1, to: OpenConnections.open)
    }
}
