internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// When the keys in use were made, and when they change, so that a rotation that is due or under way is seen.
enum KeyMetrics {
    private static let purposes = [KeyDescription.Purpose.signing.rawValue, KeyDescription.Purpose.sealing.rawValue]

    static let created = Metric.gauge(
        "key_created_timestamp_seconds", "When the key in use was made, in Unix time.",
        labels: [.init("purpose", purposes)])
    static let next = Metric.gauge(
        "key_next_change_timestamp_seconds",
        "When a key begins or ends next without an operator, in Unix time; 0 when no change is planned.",
        labels: [.init("purpose", purposes)])
    static let all = [created, next]

    /// Sets them before each page.
    static func add(_ engine: Engine, clock: HostClock, to registry: MetricRegistry) {
        let meter = registry.meter
        // The engine's records are counted in the registry: it must not hold the engine.
        registry.beforeEachPage { [weak engine] in
            guard let engine else { return }
            let keys = engine.keyDescriptions(at: clock.now)
            for purpose in purposes {
                let those = keys.filter { $0.purpose.rawValue.isExactly(purpose) }
                if let active = those.first(where: { $0.state == .active }) {
                    meter.set(seconds(active.created), of: created, purpose)
                }
                let changes = those.compactMap(\.next).filter { $0.event == .begins || $0.event == .retires }
                meter.set(changes.map { seconds($0.at) }.min() ?? 0, of: next, purpose)
            }
        }
    }

    private static func seconds(_ instant: Instant) -> Double { Double(instant.milliseconds) / 1000 }
}
