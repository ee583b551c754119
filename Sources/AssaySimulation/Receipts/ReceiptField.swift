public import AssayCore

/// One field of a receipt's content: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
public struct ReceiptField: Sendable, Equatable {
    /// The types that Apple's receipts hold ("Assessing fraud risk", and type 7 from real receipts).
    public enum Kind: UInt64, Sendable, CaseIterable {
        case appID = 2
        case certificate = 3
        case clientDataHash = 4
        case token = 5
        case receiptType = 6
        case environment = 7
        case creationTime = 12
        case riskMetric = 17
        case notBefore = 19
        case expirationTime = 21
    }

    /// The number that tells what the field is; one of ``Kind`` in Apple's receipts.
    public var type: UInt64
    /// 1 in Apple's receipts.
    public var version: UInt64
    /// The bytes of the octet string: text is UTF-8.
    public var value: [UInt8]

    /// A field of any type, also of one that Apple's receipts lack.
    public init(type: UInt64, version: UInt64 = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    /// A field of Apple's receipts.
    public init(_ kind: Kind, _ value: [UInt8]) {
        self.init(type: kind.rawValue, value: value)
    }

    /// A field of Apple's receipts with a text.
    public init(_ kind: Kind, _ text: String) {
        self.init(kind, Array(text.utf8))
    }

    /// A time as Apple writes it: RFC 3339 in UTC with a fraction.
    public init(_ kind: Kind, _ time: Instant) {
        let text = time.description
        self.init(kind, text.contains(".") ? text : "\(text.dropLast()).000Z")
    }

    /// The DER of the field.
    public var derBytes: [UInt8] {
        DERWriter.sequence(DERWriter.integer(type), DERWriter.integer(version), DERWriter.octetString(value))
    }
}

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
    /// - `fields`: Those of the receipt that was handed in.
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
