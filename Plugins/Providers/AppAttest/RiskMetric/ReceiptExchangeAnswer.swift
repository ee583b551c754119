internal import AssayCore
import AssayKit

/// What an answer of Apple's `attestationData` means (Apple, Assessing Fraud Risk).
enum ReceiptExchangeAnswer: Sendable {
    /// 200 with something in Base 64, not yet verified.
    case receipt([UInt8])
    /// 304.
    case unchanged
    /// 404: Apple has nothing from the last 30 days for the receipt.
    case nothingRecent
    case failed(ReceiptExchangeFailure)

    /// The longest that Apple is obeyed when it asks not to be called.
    private static let longestPause = Duration.seconds(86_400)

    init(_ response: OutboundResponse, at now: Instant) {
        let retryAfter = response.retryAfter(at: now).map { min($0, Self.longestPause) }
        switch response.status {
        case 200:
            let text = Self.trimmed(response.body)
            if !text.isEmpty, let receipt = Base64.decode(utf8: Array(text)) {
                self = .receipt(receipt)
            } else {
                self = .failed(ReceiptExchangeFailure(.malformed, "\(response.body.count) bytes that are not Base 64"))
            }
        case 304: self = .unchanged
        case 400: self = .failed(Self.badRequest(response.body))
        case 401: self = .failed(ReceiptExchangeFailure(.unauthorized, Self.words(response.body)))
        case 404: self = .nothingRecent
        case 429: self = .failed(ReceiptExchangeFailure(.throttled, retryAfter: retryAfter))
        case 500...599:
            self = .failed(ReceiptExchangeFailure(.unavailable, "status \(response.status)", retryAfter: retryAfter))
        default: self = .failed(ReceiptExchangeFailure(.unexpectedStatus, "status \(response.status)"))
        }
    }

    init(_ failure: OutboundFailure) {
        let kind: ReceiptExchangeFailure.Kind =
            switch failure.code {
            case .cannotConnect, .busy, .tlsRefused, .interrupted: .unreachable
            case .timedOut: .timedOut
            case .tooLarge: .tooLarge
            case .cancelled: .cancelled
            default: .notSent
            }
        self = .failed(ReceiptExchangeFailure(kind, failure.description))
    }

    /// Apple documents two causes without texts; these texts were observed.
    ///
    /// Some answers carry a receipt instead of a text.
    private static func badRequest(_ body: [UInt8]) -> ReceiptExchangeFailure {
        guard let words = words(body) else { return ReceiptExchangeFailure(.requestRefused, "without a word") }
        let text = words.lowercasedASCII
        if text.contains("environment") { return ReceiptExchangeFailure(.wrongEnvironment, words) }
        if text.contains("payload") { return ReceiptExchangeFailure(.payloadRefused, words) }
        return ReceiptExchangeFailure(.requestRefused, words)
    }

    /// The beginning of a body, when it is words: printable ASCII with spaces.
    private static func words(_ body: [UInt8]) -> String? {
        let text = trimmed(body).prefix(160)
        guard !text.isEmpty, text.allSatisfy({ (0x20...0x7E).contains($0) }),
            text.count < 100 || text.contains(0x20)
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    private static func trimmed(_ body: [UInt8]) -> ArraySlice<UInt8> {
        var text = body[...]
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return text.drop(while: isSpace)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}

/// Why a receipt was not exchanged.
struct ReceiptExchangeFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each has a stable code, under which it is logged and counted.
    enum Kind: String, Sendable, CaseIterable {
        /// 400: a receipt of the other environment.
        case wrongEnvironment = "receipt_exchange_wrong_environment"
        /// 400: Apple could not read what was sent.
        case payloadRefused = "receipt_exchange_payload_refused"
        /// 400 with neither text.
        case requestRefused = "receipt_exchange_request_refused"
        /// 401, with a fresh token too: the key is invalid, lacks the service DeviceCheck, or is of another team.
        case unauthorized = "receipt_exchange_unauthorized"
        /// 429.
        case throttled = "receipt_exchange_throttled"
        /// 5xx.
        case unavailable = "receipt_exchange_unavailable"
        /// Any other status.
        case unexpectedStatus = "receipt_exchange_unexpected_status"
        /// No connection, one that broke, or an invalid certificate.
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
