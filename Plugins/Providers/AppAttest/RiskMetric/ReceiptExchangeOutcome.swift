internal import AssayKit

/// What came of an exchange.
enum ReceiptExchangeOutcome: Sendable, Hashable {
    /// Apple gave a newer receipt, which is verified.
    case renewed(Receipt, bytes: [UInt8])
    /// 304: the receipt is exchanged too early; it stays the newest one.
    case unchanged
    case failed(ReceiptExchangeFailure)

    var event: MaintenanceEvent {
        switch self {
        case .renewed: MaintenanceEvent("receipt_exchange_renewed")
        case .unchanged: MaintenanceEvent("receipt_exchange_not_yet")
        case .failed(let failure): failure.event
        }
    }
}
