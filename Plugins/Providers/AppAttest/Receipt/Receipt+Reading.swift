internal import AssayCrypto
internal import AssayKit

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
            value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw AppAttestRefusal(AppAttestReasons.receiptRiskMetricMalformed) }
        return value.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
