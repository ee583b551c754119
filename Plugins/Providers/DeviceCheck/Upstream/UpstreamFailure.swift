public import AssayKit

/// Why nothing was learned about a token.
public struct UpstreamFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each has a stable code, under which it is logged and counted.
    public enum Kind: String, Sendable, CaseIterable {
        /// 401 or 403: the key is not good, or not for this service.
        case unauthorized = "upstream_unauthorized"
        /// 400 that is not about the device token.
        case requestRefused = "upstream_request_refused"
        /// 429.
        case throttled = "upstream_throttled"
        /// 5xx.
        case unavailable = "upstream_unavailable"
        /// Any other status.
        case unexpectedStatus = "upstream_unexpected_status"
        /// No connection, or a certificate that is not good: the server has not seen the question.
        case unreachable = "upstream_unreachable"
        /// The connection broke off: the server may have seen the question.
        case interrupted = "upstream_interrupted"
        case timedOut = "upstream_timed_out"
        case tooLarge = "upstream_too_large"
        /// 200 with something that is no answer to the question.
        case malformed = "upstream_malformed"
        /// The circuit breaker is open.
        case circuitOpen = "upstream_circuit_open"
        /// As many questions as are allowed are on their way already, or wait for a connection.
        case crowded = "upstream_crowded"
        /// The token was refused after a failed try, which may have used it up.
        case ambiguous = "upstream_ambiguous"
        /// The request cannot be made.
        case notSent = "upstream_not_sent"
        case cancelled = "upstream_cancelled"
    }

    public let kind: Kind
    /// For the record; printable, and nothing of a token or a credential.
    @Exact public private(set) var detail: String?
    /// How long the vendor asks to be left alone.
    public let retryAfter: Duration?

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
    /// Not where the answer was lost: a token is good for one question, and a vendor that has answered it already would
    /// call a good device's token bad. Not where the vendor asks for fewer questions either.
    var isWorthAnotherTry: Bool {
        switch kind {
        case .unavailable, .unreachable: true
        default: false
        }
    }

    /// What it says of the server. One that throttles a team, or calls its requests wrong, is there for the others.
    var outcome: CircuitBreaker.Outcome {
        switch kind {
        case .unavailable, .unreachable, .interrupted, .timedOut, .tooLarge, .malformed: .failure
        case .throttled, .unauthorized, .requestRefused, .unexpectedStatus, .ambiguous: .success
        case .circuitOpen, .crowded, .notSent, .cancelled: .unknown
        }
    }

    public var description: String { detail.map { "\(kind.rawValue): \($0)" } ?? kind.rawValue }
}
