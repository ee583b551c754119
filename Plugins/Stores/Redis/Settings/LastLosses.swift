internal import AssayCore
internal import Synchronization

/// What an operator should know of the servers in use: what they may forget, and whose clock differs.
final class LastLosses: Sendable {
    private struct State {
        /// By the name of the server, which is empty outside of a cluster: a failover replaces the only one.
        var losses: [ExactText: [String]] = [:]
        var skew: String?
    }

    private let state = Mutex(State())

    var text: String? {
        let (losses, skew) = state.withLock { ($0.losses, $0.skew) }
        let servers = losses.sorted { $0.key < $1.key }.flatMap { server, losses in
            losses.map { server.string.isEmpty ? $0 : "\(server): \($0)" }
        }
        let parts = servers + (skew.map { [$0] } ?? [])
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Replaces what is known of a server.
    ///
    /// - `server`: its name in a cluster; nil outside of one.
    func note(_ verdict: DurabilityVerdict, _ facts: ServerFacts, _ location: RedisLocation, of server: String?) {
        var losses = verdict.losses.map { "Redis may forget acknowledged writes: \($0)" }
        if location.replicas == 0, facts.replicas > 0 || !location.sentinel.isNil {
            losses.append(
                "a failover to a replica may forget the last acknowledged writes: no replica has to confirm them (#replicas=1)"
            )
        }
        let found = losses
        state.withLock { $0.losses[ExactText(server ?? "")] = found.isEmpty ? nil : found }
    }

    /// Forgets the servers that a cluster no longer has.
    func keep(_ servers: some Sequence<ServerAddress>) {
        let names = Set(servers.map { ExactText("\($0)") })
        state.withLock { state in state.losses = state.losses.filter { names.contains($0.key) } }
    }

    /// Compares the server's clock with that of this machine.
    func note(server: Instant, here: Instant) {
        let difference = (server - here).wholeSeconds
        let isFar = difference.magnitude > 60
        let text = "the clock of the Redis server differs from that of this machine by \(difference) seconds"
        state.withLock { $0.skew = isFar ? text : nil }
    }
}
