internal import AssayCore

/// The state that all who ask one server share: the places for questions, and whether the server answers.
///
/// It stays through reloads as long as an instance uses it.
final class UpstreamGate: Sendable {
    /// How many failures in a row close the gate.
    static let threshold = 5
    /// For how long.
    static let pause = Duration.seconds(30)

    let breaker: CircuitBreaker
    let places = PlaceQueue()

    private init(_ clock: HostClock) {
        breaker = CircuitBreaker(threshold: Self.threshold, pause: Self.pause, clock: clock)
    }

    /// The gate of a server, called through one client.
    static func to(_ server: EndpointURL, host: PluginHost) -> UpstreamGate {
        host.shared.object("\(server)", client: host.uncountedHTTP ?? host.http) { UpstreamGate(host.clock) }
    }
}
