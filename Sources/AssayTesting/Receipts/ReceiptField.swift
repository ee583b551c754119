public import AssayKit

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

    public var type: UInt64
    public var version: UInt64
    public var value: [UInt8]

    public init(type: UInt64, version: UInt64 = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    public init(_ kind: Kind, _ value: [UInt8]) {
        self.init(type: kind.rawValue, value: value)
    }

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
