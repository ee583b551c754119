/// What came of verifying a receipt.
public enum ReceiptOutcome: Sendable, Hashable {
    /// Apple signed the receipt, and it agrees with what was expected.
    case verified(Receipt)
    /// Apple signed the content, in the faulty way of receipts made before 2020-10-15; all else is as it must be.
    ///
    /// Such a message has signed attributes, and a signature that does not cover them.
    case legacy2020(Receipt)
    /// The receipt is not good.
    case refused(AppAttestRefusal)

    /// The receipt, where Apple signed it either way.
    public var receipt: Receipt? {
        switch self {
        case .verified(let receipt), .legacy2020(let receipt): receipt
        case .refused: nil
        }
    }
}
