public import AssayKit

extension ReceiptField {
    /// The fields of the receipt in an attestation (`ATTEST`), in Apple's order; it expires after 90 days.
    public static func attestation(
        app: SimulatedApp, certificate: [UInt8], clientDataHash: [UInt8], token: [UInt8], at now: Instant
    ) -> [ReceiptField] {
        [
            ReceiptField(.appID, app.appID),
            ReceiptField(.certificate, certificate),
            ReceiptField(.clientDataHash, clientDataHash),
            ReceiptField(.token, Base64.encode(token)),
            ReceiptField(.receiptType, "ATTEST"),
            ReceiptField(.environment, app.environment.receiptName),
            ReceiptField(.creationTime, now),
            ReceiptField(.expirationTime, now + .days(90)),
        ]
    }

    /// The fields of the receipt that answers one (`RECEIPT`), in Apple's order: with a risk metric, exchangeable
    /// again after 24 hours, and expired after 90 days.
    ///
    /// - Parameter fields: Those of the receipt that was handed in.
    public static func refreshed(_ fields: [ReceiptField], riskMetric: String, at now: Instant) -> [ReceiptField] {
        func kept(_ kind: Kind) -> [ReceiptField] { fields.filter { $0.type == kind.rawValue } }
        return [ReceiptField(.riskMetric, riskMetric), ReceiptField(.receiptType, "RECEIPT")]
            + kept(.appID) + kept(.certificate)
            // In real answers this is not the client data hash but 54 bytes of unknown meaning.
            + [ReceiptField(.clientDataHash, [UInt8](repeating: 0xA5, count: 54))]
            + kept(.token) + kept(.environment)
            + [
                ReceiptField(.creationTime, now), ReceiptField(.notBefore, now + .days(1)),
                ReceiptField(.expirationTime, now + .days(90)),
            ]
    }
}
