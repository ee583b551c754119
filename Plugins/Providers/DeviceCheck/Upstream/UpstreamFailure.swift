internal import AssayKit

/// Why nothing was learned about a token.
struct UpstreamFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each has a stable code, under which it is logged and counted.
    enum Kind: String, Sendable, CaseIterable {
        /// 401 or 403, with a fresh token too: the key is not good, or not for this service.
        case unauthorized = "upstream_unauthorized"
        /// 400 that is not about the device token.
        case requestRefused = "upstream_request_refused"
        /// 429.
        case throttled = "upstream_throttled"
        /// 5xx.
        case unavailable = "upstream_unavailable"
        /// Any other status.
        case unexpectedStatus = "upstream_unexpected_status"
        /// No connection, one that broke off, or a certificate that is not good.
        case unreachable = "upstream_unreachable"
        case timedOut = "upstream_timed_out"
        case tooLarge = "upstream_too_large"
        /// 200 with something that is no answer to the question.
        case malformed = "upstream_malformed"
        /// The circuit breaker is open.
        case circuitOpen = "upstream_circuit_open"
        /// As many questions as are allowed are on their way already.
        case crowded = "upstream_crowded"
        /// The request cannot be made.
        case notSent = "upstream_not_sent"
        case cancelled = "upstream_cancelled"
    }

    let kind: Kind
    let detail: String?
    /// How long the vendor asks to be left alone.
    let retryAfter: Duration?

    init(_ kind: Kind, _ detail: String? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }

    init(_ failure: OutboundFailure) {
        let kind: Kind =
            switch failure.code {
            case .cannotConnect, .busy, .tlsRefused, .interrupted: .unreachable
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .cancelled: .cancelled
            default: .notSent
            }
        self.init(kind, failure.description)
    }

    /// Whether the same question may be answered in a moment.
    var isTransient: Bool {
        switch kind {
        case .unavailable, .unreachable, .throttled: true
        default: false
        }
    }

    /// What it says of the server.
    var outcome: CircuitBreaker.Outcome {
        switch kind {
        case .throttled, .unavailable, .unreachable, .timedOut, .tooLarge, .malformed, .unexpectedStatus: .failure
        case .unauthorized, .requestRefused: .success
        case .circuitOpen, .crowded, .notSent, .cancelled: .unknown
        }
    }

    var description: String { detail.map { "\(kind.rawValue): \($0)" } ?? kind.rawValue }
}
