public import AssayCore

/// Why a server did not say whether evidence is genuine.
public struct UpstreamFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each has a stable code, under which it is logged and counted.
    @nonexhaustive public enum Kind: String, Sendable, CaseIterable {
        /// 401 or 403: the key is invalid, or not for this service.
        case unauthorized = "upstream_unauthorized"
        /// 400 that is not about the evidence.
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
        /// The time limit was reached: the server may have seen the question.
        case timedOut = "upstream_timed_out"
        /// The response is larger than the request allows.
        case tooLarge = "upstream_too_large"
        /// 200 with a body that is not an answer to the question.
        case malformed = "upstream_malformed"
        /// The circuit breaker is open.
        case circuitOpen = "upstream_circuit_open"
        /// The limit of requests that are in flight or wait for a connection is reached.
        case crowded = "upstream_crowded"
        /// The evidence was refused after a failed try, which may have used it up.
        case ambiguous = "upstream_ambiguous"
        /// The request cannot be made.
        case notSent = "upstream_not_sent"
        /// No time was left, or the client left.
        case cancelled = "upstream_cancelled"
    }

    /// What happened.
    public let kind: Kind
    /// For the record; printable, and nothing of the evidence or a credential.
    @Exact public private(set) var detail: String?
    /// How long the server asks callers to wait; nil for what its response says.
    public let retryAfter: Duration?

    /// Makes a failure.
    ///
    /// - `detail`: Printable text for the record, with nothing of the evidence or a credential.
    /// - `retryAfter`: How long the server asks callers to wait; nil for what its response says.
    public init(_ kind: Kind, _ detail: String? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// What a response means that is no answer to the question: by its status, of which 200 stands for a body that cannot be read.
    ///
    /// - `detail`: Printable text for the record, with nothing of the evidence or a credential.
    public init(_ response: OutboundResponse, _ detail: String? = nil) {
        let kind: Kind =
            switch response.status {
            case 200: .malformed
            case 400: .requestRefused
            case 401, 403: .unauthorized
            case 429: .throttled
            case 500...599: .unavailable
            default: .unexpectedStatus
            }
        let isPlain = kind == .unavailable || kind == .unexpectedStatus
        self.init(kind, detail ?? (isPlain ? "status \(response.status)" : nil))
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
    /// Not where the answer was lost: evidence may be used for one question, and a server that has answered it already
    /// would refuse what is good. Not where the server asks for fewer questions either.
    var isWorthAnotherTry: Bool {
        switch kind {
        case .unavailable, .unreachable: true
        default: false
        }
    }

    /// Whether the server may have answered, and the answer did not come.
    var lostTheAnswer: Bool { kind == .interrupted || kind == .timedOut }

    /// What it shows about the server.
    ///
    /// A server that limits one account, or calls its requests wrong, still serves the others.
    var outcome: CircuitBreaker.Outcome {
        switch kind {
        case .unavailable, .unreachable, .interrupted, .timedOut, .tooLarge, .malformed: .failure
        case .throttled, .unauthorized, .requestRefused, .unexpectedStatus, .ambiguous: .success
        case .circuitOpen, .crowded, .notSent, .cancelled: .unknown
        }
    }

    /// The same, with the time that a response asks to wait.
    func filled(from response: OutboundResponse, at now: Instant) -> UpstreamFailure {
        guard retryAfter == nil, kind == .throttled || kind == .unavailable else { return self }
        return UpstreamFailure(kind, detail, retryAfter: response.retryAfter(at: now))
    }

    /// The code, followed by the detail.
    public var description: String { detail.map { "\(kind.rawValue): \($0)" } ?? kind.rawValue }
}
