internal import AssayKit

/// What came of an exchange.
enum ReceiptExchangeOutcome: Sendable, Hashable {
    /// Apple gave a newer receipt, which is verified.
    case renewed(Receipt, bytes: [UInt8])
    /// 304: the receipt is exchanged too early; it stays the newest one.
    case unchanged
    case failed(ReceiptExchangeFailure)

    var event: UpkeepEvent {
        switch self {
        case .renewed: UpkeepEvent("receipt_exchange_renewed")
        case .unchanged: UpkeepEvent("receipt_exchange_not_yet")
        case .failed(let failure): failure.event
        }
    }
}
