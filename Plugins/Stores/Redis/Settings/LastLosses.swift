internal import AssayCore
internal import Synchronization

/// What an operator should know of the servers in use: what they may forget, and whose clock differs.
final class LastLosses: Sendable {
    private struct State {
        var losses: [String] = []
        var skew: String?
    }

    private let state = Mutex(State())

    var text: String? {
        let parts = state.withLock { $0.losses + ($0.skew.map { [$0] } ?? []) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    func note(_ verdict: DurabilityVerdict, _ facts: ServerFacts, _ location: RedisLocation) {
        var losses = verdict.losses.map { "Redis may forget acknowledged writes: \($0)" }
        if location.replicas == 0, facts.replicas > 0 || !location.sentinel.isNil {
            losses.append(
                "a failover to a replica may forget the last acknowledged writes: no replica has to confirm them (#replicas=1)"
            )
        }
        let found = losses
        state.withLock { $0.losses = found }
    }

    /// Compares the server's clock with that of this machine.
    func note(server: Instant, here: Instant) {
        let difference = (server - here).wholeSeconds
        let isFar = difference.magnitude > 60
        let text = "the clock of the Redis server differs from that of this machine by \(difference) seconds"
        state.withLock { $0.skew = isFar ? text : nil }
    }
}
