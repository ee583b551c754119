internal import AssayCrypto
internal import AssayKit

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

    /// The value of a field; nil where there is none.
    func value(_ type: Int) -> ArraySlice<UInt8>? {
        values[type]
    }

    /// The value of a field that must be there.
    func required(_ type: Int) throws(AppAttestRefusal) -> ArraySlice<UInt8> {
        guard let value = values[type] else {
            throw AppAttestRefusal(AppAttestReasons.receiptFieldMissing, "field \(type)")
        }
        return value
    }

    /// A field that must be there and be ASCII text.
    func text(_ type: Int) throws(AppAttestRefusal) -> String {
        let value = try required(type)
        guard value.count <= 256, value.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw Self.malformed(type) }
        return String(decoding: value, as: UTF8.self)
    }

    /// A field that must be there and be a time.
    func time(_ type: Int) throws(AppAttestRefusal) -> Instant {
        guard let instant = ReceiptTime.read(try required(type)) else { throw Self.malformed(type) }
        return instant
    }

    static func malformed(_ type: Int) -> AppAttestRefusal {
        AppAttestRefusal(AppAttestReasons.receiptFieldMalformed, "field \(type)")
    }
}
