import AssayCBOR
import AssayCore
import AssayKit
import Testing

/// An attestation object taken apart with the plain decoder, to be put together otherwise.
struct AttestationParts {
    var format: CBORValue
    var certificates: [CBORValue]
    var receipt: CBORValue
    var authenticatorData: [UInt8]

    init(_ bytes: [UInt8]) throws {
        let object = try CBORDecoder().decode(bytes)
        let statement = try #require(object["attStmt"])
        format = try #require(object["fmt"])
        certificates = try #require(statement["x5c"]?.array)
        receipt = try #require(statement["receipt"])
        authenticatorData = try #require(object["authData"]?.bytes)
    }

    func with(receipt: CBORValue) -> [UInt8] {
        var copy = self
        copy.receipt = receipt
        return copy.encoded
    }

    var statement: CBORValue {
        .map([CBORPair(.text("x5c"), .array(certificates)), CBORPair(.text("receipt"), receipt)])
    }

    var encoded: [UInt8] {
        Self.encode([("fmt", format), ("attStmt", statement), ("authData", .bytes(authenticatorData))])
    }

    /// A map from keys and values, in this order.
    static func map(_ pairs: KeyValuePairs<CBORValue, CBORValue>) -> CBORValue {
        .map(pairs.map { CBORPair($0.key, $0.value) })
    }

    static func encode(_ pairs: [(String, CBORValue)]) -> [UInt8] {
        CBOREncoder().encode(.map(pairs.map { CBORPair(.text($0.0), $0.1) }))
    }
}
