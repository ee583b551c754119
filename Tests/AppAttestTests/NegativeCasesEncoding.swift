import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayKit
import AssayTesting

/// Attestation objects that are badly encoded, or lack a part.
extension NegativeCase<AttestationScene> {
    static let encoding: [Self] = cborItems + objectParts + cborHeads

    private static let cborItems: [Self] = [
        .refused(Reasons.cborTruncated, "nothing at all") { $0.options.encoded = { $0 = [] } },
        .refused(Reasons.cborTruncated, "JSON instead of CBOR") {
            $0.options.encoded = { $0 = Array("{\"fmt\":\"apple-appattest\"}".utf8) }
        },
        .refused(Reasons.cborTypeUnexpected, "a text instead of a map") {
            $0.options.encoded = { $0 = [0x65] + Array("hello".utf8) }
        },
        .refused(Reasons.cborMalformed, "a reserved head") { $0.options.encoded = { $0 = [0x1C] } },
        .refused(Reasons.cborMalformed, "text that is no UTF-8") {
            $0.options.encoded = { $0 = $0.replacingFirst(Array("fmt".utf8), with: [0x66, 0xFF, 0x74]) }
        },
        .refused(Reasons.cborTrailingBytes, "one byte behind the object") { $0.options.encoded = { $0.append(0) } },
        .refused(Reasons.cborTrailingBytes, "two objects") { $0.options.encoded = { $0 += $0 } },
        .refused(Reasons.cborTruncated, "the last byte missing") { $0.options.encoded = { $0.removeLast() } },
        .refused(Reasons.cborTruncated, "half of the object") {
            $0.options.encoded = { $0.removeLast($0.count / 2) }
        },
        .refused(Reasons.cborTypeUnexpected, "an array instead of a map") {
            $0.options.encoded = { $0 = [0x83, 0x01, 0x02, 0x03] }
        },
        .refused(Reasons.evidenceTooLarge, "more than 16 KiB") {
            $0.options.encoded = { $0 += [UInt8](repeating: 0, count: 16 * 1024) }
        },
        .refused(Reasons.cborTrailingBytes, "16 KiB, of which the last are too many") {
            $0.options.encoded = { $0 += [UInt8](repeating: 0, count: 16 * 1024 - $0.count) }
        },
        .refused(Reasons.evidenceTooLarge, "one byte more than 16 KiB") {
            $0.options.encoded = { $0 += [UInt8](repeating: 0, count: 16 * 1024 + 1 - $0.count) }
        },
        .refused(Reasons.authenticatorDataTrailingBytes, "authenticator data of 2 KiB, of which the last are too many")
        {
            $0.options.authenticatorData = { $0.trailing = [UInt8](repeating: 0, count: 2048 - $0.bytes.count) }
        },
        .refused(Reasons.evidenceTooLarge, "authenticator data of one byte more than 2 KiB") {
            $0.options.authenticatorData = { $0.trailing = [UInt8](repeating: 0, count: 2049 - $0.bytes.count) }
        },
        .refused(Reasons.evidenceTooLarge, "authenticator data of more than 2 KiB") {
            $0.options.authenticatorData = { $0.trailing = [UInt8](repeating: 0, count: 2048) }
        },
    ]

    private static let objectParts: [Self] = [
        .refused(Reasons.formatMissing, "no fmt") { $0.options.object = { $0["fmt"] = nil } },
        .refused(Reasons.formatUnknown, "another fmt") { $0.options.object = { $0["fmt"] = .text("packed") } },
        .refused(Reasons.formatUnknown, "a NUL in fmt") {
            $0.options.object = { $0["fmt"] = .text("apple-appattest\0") }
        },
        .refused(Reasons.cborTypeUnexpected, "fmt as bytes") {
            $0.options.object = { $0["fmt"] = .bytes(Array("apple-appattest".utf8)) }
        },
        .refused(Reasons.statementMissing, "no attStmt") { $0.options.object = { $0["attStmt"] = nil } },
        .refused(Reasons.cborTypeUnexpected, "attStmt as an array") {
            $0.options.object = { $0["attStmt"] = .array([]) }
        },
        .refused(Reasons.authenticatorDataMissing, "no authData") { $0.options.object = { $0["authData"] = nil } },
        .refused(Reasons.cborTypeUnexpected, "authData as text") {
            $0.options.object = { $0["authData"] = .text("a") }
        },
        .refused(Reasons.certificatesMissing, "no x5c") { $0.options.statement = { $0["x5c"] = nil } },
        .refused(Reasons.cborTypeUnexpected, "x5c as bytes") {
            $0.options.statement = { $0["x5c"] = .bytes([1]) }
        },
        .refused(Reasons.cborTypeUnexpected, "a certificate as text") {
            $0.options.statement = { $0["x5c"] = .array([.text("a"), .text("b")]) }
        },
        .refused(Reasons.certificateCount, "no certificate") { $0.options.chain = { $0 = [] } },
        .refused(Reasons.certificateCount, "one certificate") { $0.options.chain = { $0.removeLast() } },
        .accepted("three certificates, with the trusted root") {
            let root = $0.authority.rootCertificateDER
            $0.options.chain = { $0.append(root) }
        },
        .refused(Reasons.certificateCount, "three certificates, with another root") {
            let root = try Simulation.impostor().rootCertificateDER
            $0.options.chain = { $0.append(root) }
        },
        .refused(Reasons.certificateCount, "four certificates, with the trusted root twice") {
            let root = $0.authority.rootCertificateDER
            $0.options.chain = { $0 += [root, root] }
        },
        .refused(Reasons.receiptMissing, "no receipt") { $0.options.statement = { $0["receipt"] = nil } },
        .refused(Reasons.cborTypeUnexpected, "a receipt as text") {
            $0.options.statement = { $0["receipt"] = .text("a") }
        },
        .accepted("one more key in the object") { $0.options.object = { $0["more"] = .unsigned(1) } },
        .accepted("one more key in the statement") { $0.options.statement = { $0["alg"] = .negative(6) } },
        .refused(Reasons.cborDuplicateKey, "one more key in the statement, twice") {
            $0.options.statement = { $0 += [CBORPair(.text("alg"), .null), CBORPair(.text("alg"), .null)] }
        },
        .refused(Reasons.formatMissing, "a key that differs from a known one by its case") {
            $0.options.object = {
                $0["fmt"] = nil
                $0["FMT"] = .text("apple-appattest")
            }
        },
        .refused(Reasons.cborUnknownKey, "a key that is a number") {
            $0.options.object = { $0.append(CBORPair(.unsigned(1), .null)) }
        },
        .refused(Reasons.cborDuplicateKey, "fmt twice") {
            $0.options.object = { $0.append(CBORPair(.text("fmt"), .text("apple-appattest"))) }
        },
        .refused(Reasons.cborDuplicateKey, "two receipts") {
            $0.options.statement = { $0.append(CBORPair(.text("receipt"), .bytes([]))) }
        },
        .accepted("keys of the object in another order") { $0.options.object = { $0.reverse() } },
        .accepted("keys of the statement in another order") { $0.options.statement = { $0.reverse() } },
    ]

    private static let cborHeads: [Self] = [
        .refused(Reasons.cborNotDeterministic, "a map of indefinite length") {
            $0.options.encoded = { $0 = [0xBF] + $0.dropFirst() + [0xFF] }
        },
        .refused(Reasons.cborNotDeterministic, "a text in chunks") {
            $0.options.encoded = {
                $0 = $0.replacingFirst([0x63] + Array("fmt".utf8), with: [0x7F, 0x63] + Array("fmt".utf8) + [0xFF])
            }
        },
        .refused(Reasons.cborNotDeterministic, "a map's length in eight bytes") {
            $0.options.encoded = { $0 = [0xBB, 0, 0, 0, 0, 0, 0, 0, 3] + $0.dropFirst() }
        },
        .refused(Reasons.cborNotDeterministic, "a text's length in one byte more than it needs") {
            $0.options.encoded = { $0 = $0.replacingFirst([0x63, 0x66], with: [0x78, 0x03, 0x66]) }
        },
        .refused(Reasons.cborTruncated, "a map that claims one more pair") {
            $0.options.encoded = { $0[0] = 0xA4 }
        },
        .refused(Reasons.cborTrailingBytes, "a map that claims one pair less") {
            $0.options.encoded = { $0[0] = 0xA2 }
        },
        .refused(Reasons.cborTruncated, "a byte string that claims to reach behind the object") {
            $0.system = .iOS26
            // The head of 164 bytes of authenticator data, which end the object.
            $0.options.encoded = {
                $0 = $0.replacingFirst(
                    Array("authData".utf8) + [0x58, 0xA4], with: Array("authData".utf8) + [0x58, 0xA5])
            }
        },
        .refused(Reasons.cborTruncated, "a byte string of 2^63 bytes") {
            $0.options.encoded = { $0 = [0xA1, 0x61, 0x61, 0x5B, 0x7F] + [UInt8](repeating: 0xFF, count: 7) }
        },
        .refused(Reasons.cborTruncated, "an array that claims 2^64 - 1 elements") {
            $0.options.encoded = { $0 = [0x9B] + [UInt8](repeating: 0xFF, count: 8) }
        },
        .refused(Reasons.cborLimitExceeded, "arrays in arrays, ten thousand deep") {
            $0.options.encoded = { $0 = [UInt8](repeating: 0x81, count: 10_000) + [0x00] }
        },
        .refused(Reasons.cborLimitExceeded, "an array of a thousand elements") {
            $0.options.encoded = { $0 = [0x99, 0x03, 0xE8] + [UInt8](repeating: 0, count: 1_000) }
        },
        .refused(Reasons.cborMalformed, "tags on tags") {
            $0.options.encoded = { $0 = [UInt8](repeating: 0xC1, count: 1_000) + [0x00] }
        },
    ]
}
