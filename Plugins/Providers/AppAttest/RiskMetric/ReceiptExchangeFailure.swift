internal import AssayKit

/// Why a receipt was not exchanged.
struct ReceiptExchangeFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each has a stable code, under which it is logged and counted.
    enum Kind: String, Sendable, CaseIterable {
        /// 400: a receipt of the other environment.
        case wrongEnvironment = "receipt_exchange_wrong_environment"
        /// 400: Apple could not read what was sent.
        case payloadRefused = "receipt_exchange_payload_refused"
        /// 400 that says neither.
        case requestRefused = "receipt_exchange_request_refused"
        /// 401, with a fresh token too: the key is not good, lacks the service DeviceCheck, or is of another team.
        case unauthorized = "receipt_exchange_unauthorized"
        /// 404: Apple has no data for the receipt.
        case unknownReceipt = "receipt_exchange_unknown_receipt"
        /// 429.
        case throttled = "receipt_exchange_throttled"
        /// 5xx.
        case unavailable = "receipt_exchange_unavailable"
        /// Any other status.
        case unexpectedStatus = "receipt_exchange_unexpected_status"
        /// No connection, one that broke off, or a certificate that is not good.
        case unreachable = "receipt_exchange_unreachable"
        case timedOut = "receipt_exchange_timed_out"
        /// The answer is larger than any receipt.
        case tooLarge = "receipt_exchange_too_large"
        /// 200 with a body that is not Base 64.
        case malformed = "receipt_exchange_malformed"
        /// 200 with a receipt that does not verify, or is not about the same key.
        case receiptRefused = "receipt_exchange_receipt_refused"
        /// The request cannot be made: no HTTP client, or a fault in this program.
        case notSent = "receipt_exchange_not_sent"
        /// The task was cancelled.
        case cancelled = "receipt_exchange_cancelled"
    }

    let kind: Kind
    /// What was found, for an operator.
    @Exact private(set) var detail: String?
    /// How long Apple asks not to be called.
    let retryAfter: Duration?

    init(_ kind: Kind, _ detail: String? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// Whether another try in a moment may succeed.
    var isTransient: Bool {
        switch kind {
        case .throttled, .unavailable, .unreachable, .timedOut: true
        default: false
        }
    }

    /// Whether other receipts would very likely fare no better.
    var concernsAll: Bool {
        switch kind {
        case .unauthorized, .throttled, .unavailable, .unreachable, .timedOut, .notSent, .cancelled: true
        default: false
        }
    }

    var event: MaintenanceEvent { MaintenanceEvent(kind.rawValue) }

    var description: String {
        detail.map { "\(kind.rawValue): \($0)" } ?? kind.rawValue
    }
}
