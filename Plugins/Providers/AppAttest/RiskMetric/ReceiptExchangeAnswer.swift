internal import AssayKit

/// What an answer of Apple's `attestationData` means (Apple, Assessing Fraud Risk).
enum ReceiptExchangeAnswer: Sendable {
    /// 200 with something in Base 64, not yet verified.
    case receipt([UInt8])
    /// 304.
    case unchanged
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
        case 404: self = .failed(ReceiptExchangeFailure(.unknownReceipt, Self.words(response.body)))
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

    /// Apple documents two causes and no text for them; the words are those that have been seen. Some answers carry a
    /// receipt in place of words.
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
