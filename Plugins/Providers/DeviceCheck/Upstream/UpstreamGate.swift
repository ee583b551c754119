internal import AssayKit
internal import Synchronization

/// What all apps that ask one vendor's server have in common: the places for questions, and whether the server answers at
/// all. It stays through reloads as long as an instance uses it.
final class UpstreamGate: Sendable {
    private struct Name: Hashable {
        @Exact private(set) var server: String
        let client: ObjectIdentifier
    }

    private struct Held {
        weak var gate: UpstreamGate?
    }

    private static let held = Mutex<[Name: Held]>([:])
    /// How many failures in a row close the gate.
    static let threshold = 5
    /// For how long.
    static let pause = Duration.seconds(30)

    let breaker: CircuitBreaker
    let places = PlaceQueue()
    /// Keeps the client, whose identity names the gate, from being followed by another in its place.
    private let client: any OutboundHTTP

    private init(client: any OutboundHTTP, clock: HostClock) {
        self.client = client
        breaker = CircuitBreaker(threshold: Self.threshold, pause: Self.pause, clock: clock)
    }

    /// The gate of a server, called through one client.
    static func to(_ server: EndpointURL, host: PluginHost) -> UpstreamGate {
        let name = Name(server: "\(server)", client: ObjectIdentifier(host.http))
        return held.withLock { held in
            if let gate = held[name]?.gate { return gate }
            let gate = UpstreamGate(client: host.http, clock: host.clock)
            held = held.filter { $0.value.gate != nil }
            held[name] = Held(gate: gate)
            return gate
        }
    }
}
