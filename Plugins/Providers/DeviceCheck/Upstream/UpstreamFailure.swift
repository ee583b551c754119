public import AssayCore
internal import AssayKit
internal import Synchronization

/// Why a vendor's server did not say whether a token is valid.
public struct UpstreamFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each has a stable code, under which it is logged and counted.
    public enum Kind: String, Sendable, CaseIterable {
        /// 401 or 403: the key is invalid, or not for this service.
        case unauthorized = "upstream_unauthorized"
        /// 400 that is not about the device token.
        case requestRefused = "upstream_request_refused"
        /// 429.
        case throttled = "upstream_throttled"
        /// 5xx.
        case unavailable = "upstream_unavailable"
        /// Any other status.
        case unexpectedStatus = "upstream_unexpected_status"
        /// No connection, or an invalid certificate: the server has not seen the question.
        case unreachable = "upstream_unreachable"
        /// The connection broke off: the server may have seen the question.
        case interrupted = "upstream_interrupted"
        case timedOut = "upstream_timed_out"
        case tooLarge = "upstream_too_large"
        /// 200 with a body that is not an answer to the question.
        case malformed = "upstream_malformed"
        /// The circuit breaker is open.
        case circuitOpen = "upstream_circuit_open"
        /// The limit of requests that are in flight or wait for a connection is reached.
        case crowded = "upstream_crowded"
        /// The token was refused after a failed try, which may have used it up.
        case ambiguous = "upstream_ambiguous"
        /// The request cannot be made.
        case notSent = "upstream_not_sent"
        case cancelled = "upstream_cancelled"
    }

    /// What happened.
    public let kind: Kind
    /// For the record; printable, and nothing of a token or a credential.
    @Exact public private(set) var detail: String?
    /// How long the vendor asks callers to wait.
    public let retryAfter: Duration?

    /// Makes a failure.
    ///
    /// - `detail`: Printable text for the record, with nothing of a token or a credential.
    /// - `retryAfter`: How long the vendor asks callers to wait.
    public init(_ kind: Kind, _ detail: String? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }

    init(_ failure: OutboundFailure) {
        let kind: Kind =
            switch failure.code {
            case .cannotConnect, .tlsRefused: .unreachable
            case .busy: .crowded
            case .interrupted: .interrupted
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .cancelled: .cancelled
            default: .notSent
            }
        self.init(kind, failure.description)
    }

    /// Whether the same question may be answered in a moment.
    ///
    /// Not where the answer was lost: a token can be used for one question, and a vendor that has answered it already
    /// would call a good device's token bad. Not where the vendor asks for fewer questions either.
    var isWorthAnotherTry: Bool {
        switch kind {
        case .unavailable, .unreachable: true
        default: false
        }
    }

    /// What it shows about the server.
    ///
    /// A server that limits one team, or calls its requests wrong, still serves the others.
    var outcome: CircuitBreaker.Outcome {
        switch kind {
        case .unavailable, .unreachable, .interrupted, .timedOut, .tooLarge, .malformed: .failure
        case .throttled, .unauthorized, .requestRefused, .unexpectedStatus, .ambiguous: .success
        case .circuitOpen, .crowded, .notSent, .cancelled: .unknown
        }
    }

    /// The code, followed by the detail.
    public var description: String { detail.map { "\(kind.rawValue): \($0)" } ?? kind.rawValue }
}

/// The state that all apps share for one vendor's server: the places for questions, and whether the server answers.
///
/// It stays through reloads as long as an instance uses it.
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
    /// Keeps the client, whose identity names the gate, from being freed and replaced by another at the same address.
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
