public import AssayCore
internal import AssayCrypto

/// What a receipt says: Apple's own record of an attested key (Apple, Assessing Fraud Risk).
///
/// One comes with each attestation; it can be exchanged at Apple's servers for a newer one, which carries a risk metric.
public struct Receipt: Sendable, Hashable {
    /// What the receipt was made for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Made with an attestation.
        case attestation = "ATTEST"
        /// Made in exchange for another receipt.
        case exchange = "RECEIPT"
    }

    /// What the receipt was made for.
    public let kind: Kind
    /// The App ID of the app whose key it is about.
    @Exact public private(set) var appID: String
    /// The certificate of the attested key, in DER.
    public let certificate: [UInt8]
    /// For an attestation's receipt the client data hash; otherwise 54 bytes that Apple does not explain.
    public let clientHash: [UInt8]
    /// Apple's token, 88 Base 64 characters so far; nil when absent.
    public let token: [UInt8]?
    /// The environment of the key; nil where the receipt does not name it.
    public let environment: AppAttestEnvironment?
    /// When the receipt was made.
    public let created: Instant
    /// The time from which it can be exchanged; nil for at once.
    public let notBefore: Instant?
    /// Until when it can be exchanged.
    public let expires: Instant
    /// About how many keys the app attested on the device in the last 30 days; only in exchanged receipts.
    public let riskMetric: Int?
}

extension Receipt {
    /// The most fields that are read.
    private static let fieldLimit = 64

    /// Reads the signed content of a receipt: a set of typed fields, in any order.
    ///
    /// Types that are not known are passed over: they are signed, and Apple may add some.
    init(content: ArraySlice<UInt8>) throws(AppAttestRefusal) {
        let fields = try ReceiptFields(content, limit: Self.fieldLimit)
        guard let kind = Kind(exactly: try fields.text(6)) else {
            throw AppAttestRefusal(AppAttestReasons.receiptTypeUnexpected)
        }
        let created = try fields.time(12)
        let expires = try fields.time(21)
        self.init(
            kind: kind, appID: try fields.text(2), certificate: Array(try fields.required(3)),
            clientHash: Array(try fields.required(4)), token: fields.value(5).map { Array($0) },
            environment: fields.value(7) == nil ? nil : try Self.environment(named: fields.text(7)), created: created,
            notBefore: fields.value(19) == nil ? nil : try fields.time(19), expires: expires,
            riskMetric: kind == .exchange ? try Self.riskMetric(fields.required(17)) : nil)
        guard created <= expires else { throw ReceiptFields.malformed(21) }
        guard kind == .exchange || fields.value(17) == nil else { throw ReceiptFields.malformed(17) }
    }

    private static func environment(named name: String) throws(AppAttestRefusal) -> AppAttestEnvironment {
        guard let found = AppAttestEnvironment.allCases.first(where: { $0.receiptName.isExactly(name) }) else {
            throw ReceiptFields.malformed(7)
        }
        return found
    }

    /// The risk metric: a number below a billion as text, without sign and leading zeros.
    private static func riskMetric(_ value: ArraySlice<UInt8>) throws(AppAttestRefusal) -> Int {
        guard (1...9).contains(value.count), value.count == 1 || value.first != UInt8(ascii: "0"),
            value.allSatisfy(\.isASCIIDigit)
        else { throw AppAttestRefusal(AppAttestReasons.receiptRiskMetricMalformed) }
        return value.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

/// The fields of a receipt by their type: `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
struct ReceiptFields {
    private let values: [Int: ArraySlice<UInt8>]

    init(_ content: ArraySlice<UInt8>, limit: Int) throws(AppAttestRefusal) {
        var values: [Int: ArraySlice<UInt8>] = [:]
        var duplicate: Int?
        do throws(ASN1Error) {
            var reader = try DERReader.single(.set, in: content).reader
            while !reader.isAtEnd {
                let start = reader.offset
                var field = try reader.next(.sequence).reader
                let type = try field.smallInteger()
                guard try field.smallInteger() == 1 else { throw ASN1Error(.valueUnexpected, at: start) }
                let value = try field.octetString()
                try field.finish()
                guard values.count < limit else { throw ASN1Error(.tooLarge, at: start) }
                if values.updateValue(value, forKey: type) != nil { duplicate = type }
            }
        } catch {
            throw AppAttestRefusal(AppAttestReasons.receiptMalformed, error.description)
        }
        if let duplicate {
            throw AppAttestRefusal(AppAttestReasons.receiptFieldDuplicated, "field \(duplicate)")
        }
        self.values = values
    }

    /// The value of a field; nil when absent.
    func value(_ type: Int) -> ArraySlice<UInt8>? {
        values[type]
    }

    /// The value of a required field.
    func required(_ type: Int) throws(AppAttestRefusal) -> ArraySlice<UInt8> {
        guard let value = values[type] else {
            throw AppAttestRefusal(AppAttestReasons.receiptFieldMissing, "field \(type)")
        }
        return value
    }

    /// A required field with ASCII text.
    func text(_ type: Int) throws(AppAttestRefusal) -> String {
        let value = try required(type)
        guard value.count <= 256, value.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw Self.malformed(type) }
        return String(decoding: value, as: UTF8.self)
    }

    /// A required field with a time.
    func time(_ type: Int) throws(AppAttestRefusal) -> Instant {
        guard let instant = ReceiptTime.read(try required(type)) else { throw Self.malformed(type) }
        return instant
    }

    static func malformed(_ type: Int) -> AppAttestRefusal {
        AppAttestRefusal(AppAttestReasons.receiptFieldMalformed, "field \(type)")
    }
}

/// Times in receipts: ISO 8601 in UTC with two or three fractional digits, such as `2026-10-09T07:25:21.62Z`.
enum ReceiptTime {
    /// The instant that a field's value names; nil for any other form.
    static func read(_ value: ArraySlice<UInt8>) -> Instant? {
        // Apple drops trailing zeros of the milliseconds.
        guard (20...24).contains(value.count), value.last == UInt8(ascii: "Z"), value.contains(UInt8(ascii: "T")),
            let text = String(validating: value, as: UTF8.self)
        else { return nil }
        return Instant(rfc3339: text)
    }
}
