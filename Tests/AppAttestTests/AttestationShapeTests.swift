import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import Testing

/// A change to the form of a genuine attestation, and the reason that it is refused for.
struct ShapeCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reason: Reason?
    let change: @Sendable (AttestationParts) throws -> [UInt8]

    init(_ name: String, _ reason: Reason?, _ change: @escaping @Sendable (AttestationParts) throws -> [UInt8]) {
        testDescription = name
        self.reason = reason
        self.change = change
    }

    /// A change to the authenticator data alone.
    static func data(
        _ name: String, _ reason: Reason, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> ShapeCase {
        ShapeCase(name, reason) { parts in
            var parts = parts
            parts.authenticatorData = change(parts.authenticatorData)
            return parts.encoded
        }
    }
}

@Suite(.enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)))
struct AttestationShapeTests {
    @Test("The form of the object", arguments: objects + statements)
    func object(_ shape: ShapeCase) throws {
        try check(shape, of: "4bb22e4a")
    }

    @Test("The form of authenticator data before iOS 27", arguments: authenticatorData)
    func oldAuthenticatorData(_ shape: ShapeCase) throws {
        try check(shape, of: "4bb22e4a")
    }

    @Test("The form of authenticator data since iOS 27", arguments: authenticatorData + maps)
    func newAuthenticatorData(_ shape: ShapeCase) throws {
        try check(shape, of: "53319234")
    }

    private func check(_ shape: ShapeCase, of mark: String) throws {
        let fixture = try Fixture.attestation(mark)
        let bytes = try shape.change(AttestationParts(fixture.bytes("attestation_base64")))
        let outcome = try AttestationVerifier(receipts: .unchecked).verify(
            bytes, expecting: fixture.attestationExpectation(), at: fixture.instant("valid_at"))
        #expect(outcome.refusal?.reason == shape.reason, "\(outcome)")
    }

    static let objects: [ShapeCase] = [
        ShapeCase("as it was", nil) { $0.encoded },
        ShapeCase("keys in another order", nil) { parts in
            AttestationParts.encode([
                ("authData", .bytes(parts.authenticatorData)),
                (
                    "attStmt",
                    AttestationParts.map([
                        .text("receipt"): parts.receipt, .text("x5c"): .array(parts.certificates),
                    ])
                ),
                ("fmt", parts.format),
            ])
        },
        ShapeCase("nothing", AppAttestReasons.cborTruncated) { _ in [] },
        ShapeCase("too many bytes", AppAttestReasons.evidenceTooLarge) {
            $0.encoded + [UInt8](repeating: 0, count: 16384)
        },
        ShapeCase("not CBOR", AppAttestReasons.cborMalformed) { _ in [0x1C] },
        ShapeCase("one byte more", AppAttestReasons.cborTrailingBytes) { $0.encoded + [0] },
        ShapeCase("two items", AppAttestReasons.cborTrailingBytes) { $0.encoded + $0.encoded },
        ShapeCase("one byte less", AppAttestReasons.cborTruncated) { $0.encoded.dropLast() },
        ShapeCase("an array", AppAttestReasons.cborTypeUnexpected) { _ in [0x80] },
        ShapeCase("a number", AppAttestReasons.cborTypeUnexpected) { _ in [0x00] },
        ShapeCase("a map of indefinite length", AppAttestReasons.cborNotDeterministic) {
            [0xBF] + $0.encoded.dropFirst() + [0xFF]
        },
        ShapeCase("a length in eight bytes", AppAttestReasons.cborNotDeterministic) {
            [0xBB, 0, 0, 0, 0, 0, 0, 0, 3] + $0.encoded.dropFirst()
        },
        ShapeCase("a huge declared length", AppAttestReasons.cborTruncated) { _ in
            [0xA1, 0x63, 0x66, 0x6D, 0x74, 0x7B] + [UInt8](repeating: 0xFF, count: 8)
        },
        ShapeCase("a huge declared map", AppAttestReasons.cborTruncated) { _ in
            [0xBB] + [UInt8](repeating: 0x7F, count: 8)
        },
        ShapeCase("deep nesting", AppAttestReasons.cborLimitExceeded) { _ in [UInt8](repeating: 0x81, count: 9000) + [0]
        },
        ShapeCase("a key twice", AppAttestReasons.cborDuplicateKey) { parts in
            AttestationParts.encode([("fmt", parts.format), ("fmt", parts.format), ("attStmt", parts.statement)])
        },
        ShapeCase("an unknown key", nil) { parts in
            AttestationParts.encode([
                ("fmt", parts.format), ("attStmt", parts.statement), ("authData", .bytes(parts.authenticatorData)),
                ("x", .null),
            ])
        },
        ShapeCase("an unknown key twice", AppAttestReasons.cborDuplicateKey) { parts in
            AttestationParts.encode([
                ("fmt", parts.format), ("attStmt", parts.statement), ("authData", .bytes(parts.authenticatorData)),
                ("x", .null), ("x", .null),
            ])
        },
        ShapeCase("an unknown key with deep content", AppAttestReasons.cborLimitExceeded) { parts in
            AttestationParts.encode([
                ("fmt", parts.format), ("attStmt", parts.statement), ("authData", .bytes(parts.authenticatorData)),
                ("x", (0..<8).reduce(CBORValue.null) { content, _ in .array([content]) }),
            ])
        },
        ShapeCase("more unknown keys than items are read", AppAttestReasons.cborLimitExceeded) { parts in
            AttestationParts.encode(
                [("fmt", parts.format), ("attStmt", parts.statement), ("authData", .bytes(parts.authenticatorData))]
                    + (0..<128).map { ("x\($0)", .null) })
        },
        ShapeCase("no format", AppAttestReasons.formatMissing) { parts in
            AttestationParts.encode([
                ("attStmt", parts.statement), ("authData", .bytes(parts.authenticatorData)),
            ])
        },
        ShapeCase("another format", AppAttestReasons.formatUnknown) { parts in
            var parts = parts
            parts.format = .text("apple")
            return parts.encoded
        },
        ShapeCase("a format that is no text", AppAttestReasons.cborTypeUnexpected) { parts in
            var parts = parts
            parts.format = .bytes(Array("apple-appattest".utf8))
            return parts.encoded
        },
        ShapeCase("no statement", AppAttestReasons.statementMissing) { parts in
            AttestationParts.encode([("fmt", parts.format), ("authData", .bytes(parts.authenticatorData))])
        },
        ShapeCase("no authenticator data", AppAttestReasons.authenticatorDataMissing) { parts in
            AttestationParts.encode([("fmt", parts.format), ("attStmt", parts.statement)])
        },
    ]

    static let statements: [ShapeCase] = [
        statement("no certificates", AppAttestReasons.certificatesMissing) { [.text("receipt"): $0.receipt] },
        statement("no receipt, where receipts are not checked", nil) { [.text("x5c"): .array($0.certificates)] },
        statement("a receipt that is no bytes", AppAttestReasons.cborTypeUnexpected) {
            [.text("x5c"): .array($0.certificates), .text("receipt"): .text("")]
        },
        certificates("0 certificates", AppAttestReasons.certificateCount) { _ in [] },
        certificates("1 certificate", AppAttestReasons.certificateCount) { Array($0.prefix(1)) },
        certificates("3 certificates", AppAttestReasons.certificateCount) { $0 + $0.suffix(1) },
        certificates("3 certificates, the last of which is Apple's root", nil) {
            $0 + [.bytes(try AppleRoots.appAttestAnchor().encoded)]
        },
        certificates("Apple's root with another signature", AppAttestReasons.certificateCount) {
            $0 + [.bytes(changingLast(try AppleRoots.appAttestAnchor().encoded))]
        },
        certificates("Apple's root twice", AppAttestReasons.certificateCount) {
            let root = CBORValue.bytes(try AppleRoots.appAttestAnchor().encoded)
            return $0 + [root, root]
        },
        certificates("Apple's root before the intermediate", AppAttestReasons.certificateCount) {
            [$0[0], .bytes(try AppleRoots.appAttestAnchor().encoded), $0[1]]
        },
        certificates("something that is no bytes after the root", AppAttestReasons.certificateCount) {
            $0 + [.bytes(try AppleRoots.appAttestAnchor().encoded), .null]
        },
        certificates("something that is no bytes instead of the root", AppAttestReasons.cborTypeUnexpected) {
            $0 + [.null]
        },
        certificates("the wrong order", AppAttestReasons.leafIsAuthority) { $0.reversed() },
        certificates("the leaf twice", AppAttestReasons.intermediateNotAuthority) { [$0[0], $0[0]] },
        certificates("the intermediate twice", AppAttestReasons.leafIsAuthority) { [$0[1], $0[1]] },
        certificates("a leaf that is no certificate", AppAttestReasons.certificateMalformed) {
            [.bytes([0x30, 0x00]), $0[1]]
        },
        certificates("an empty leaf", AppAttestReasons.certificateMalformed) { [.bytes([]), $0[1]] },
        certificates("an intermediate that is no certificate", AppAttestReasons.intermediateMalformed) {
            [$0[0], .bytes([0x30, 0x00])]
        },
        certificates("a byte behind the leaf", AppAttestReasons.certificateMalformed) {
            [.bytes(($0[0].bytes ?? []) + [0]), $0[1]]
        },
        certificates("the root in place of the intermediate", AppAttestReasons.leafNotByIntermediate) {
            [$0[0], .bytes(try AppleRoots.appAttestAnchor().encoded)]
        },
        certificates("the intermediate's signature changed", AppAttestReasons.intermediateNotByRoot) {
            [$0[0], .bytes(changingLast($0[1].bytes ?? []))]
        },
        certificates("the leaf's signature changed", AppAttestReasons.leafSignatureInvalid) {
            [.bytes(changingLast($0[0].bytes ?? [])), $0[1]]
        },
    ]

    static let authenticatorData: [ShapeCase] = [
        .data("nothing", AppAttestReasons.authenticatorDataTruncated) { _ in [] },
        .data("36 bytes", AppAttestReasons.authenticatorDataTruncated) { Array($0.prefix(36)) },
        .data("no attested credential", AppAttestReasons.attestedDataMissing) { Array($0.prefix(37)) },
        .data("a credential cut short", AppAttestReasons.authenticatorDataTruncated) { Array($0.prefix(54)) },
        .data("a credential identifier cut short", AppAttestReasons.authenticatorDataTruncated) {
            Array($0.prefix(80))
        },
        .data("no key", AppAttestReasons.authenticatorDataTruncated) { Array($0.prefix(87)) },
        .data("a key cut short", AppAttestReasons.cborTruncated) { Array($0.prefix(120)) },
        .data("too many bytes", AppAttestReasons.evidenceTooLarge) { $0 + [UInt8](repeating: 0, count: 2048) },
        .data("another App ID", AppAttestReasons.appIDMismatch) { $0.replacing(at: 31, with: $0[31] ^ 1) },
        .data("other flags", AppAttestReasons.nonceMismatch) { $0.replacing(at: 32, with: $0[32] ^ 0x80) },
        .data("a counter of 1", AppAttestReasons.counterNotZero) { $0.replacing(at: 36, with: 1) },
        .data("a counter of 2^31", AppAttestReasons.counterNotZero) { $0.replacing(at: 33, with: 0x80) },
        .data("another authenticator", AppAttestReasons.aaguidUnknown) { $0.replacing(at: 37, with: 0x41) },
        .data("the other environment", AppAttestReasons.environmentNotAllowed) {
            $0.prefix(37) + Array("appattest".utf8) + [UInt8](repeating: 0, count: 7) + $0.dropFirst(53)
        },
        .data("a credential identifier of 33 bytes", AppAttestReasons.credentialIDLength) {
            $0.replacing(at: 54, with: 33)
        },
        .data("a credential identifier of 8224 bytes", AppAttestReasons.credentialIDLength) {
            $0.replacing(at: 53, with: 32)
        },
        .data("another credential identifier", AppAttestReasons.credentialIDMismatch) {
            $0.replacing(at: 86, with: $0[86] ^ 1)
        },
        .data("another key", AppAttestReasons.coseKeyMismatch) { $0.replacing(at: 100, with: $0[100] ^ 1) },
        .data("a key for another algorithm", AppAttestReasons.coseKeyMalformed) { $0.replacing(at: 91, with: 0x27) },
        .data("a key of another type", AppAttestReasons.coseKeyMalformed) { $0.replacing(at: 89, with: 0x01) },
        .data("a map that is none", AppAttestReasons.extensionMapMalformed) { $0.prefix(164) + [0x80] },
        .data("a map cut short", AppAttestReasons.cborTruncated) { $0.prefix(164) + [0xA1] },
        .data("a map that nobody vouches for", AppAttestReasons.nonceMismatch) { $0.prefix(164) + [0xA0] },
        .data("two maps", AppAttestReasons.authenticatorDataTrailingBytes) { $0.prefix(164) + [0xA0, 0xA0] },
    ]

    static let maps: [ShapeCase] = [
        map("a category as a number", AppAttestReasons.extensionMapMalformed, [category: .unsigned(3)]),
        map("a category as text", AppAttestReasons.extensionMapMalformed, [category: .text("3")]),
        map("a category of 3 bytes", AppAttestReasons.extensionMapMalformed, [category: .bytes([3, 0, 0])]),
        map("a category of 5 bytes", AppAttestReasons.extensionMapMalformed, [category: .bytes([3, 0, 0, 0, 0])]),
        map("a category of 4 bytes", AppAttestReasons.nonceMismatch, [category: .bytes([9, 0, 0, 0])]),
        map(
            "a bundle version as bytes", AppAttestReasons.extensionMapMalformed,
            [.text("apple_bundle_version_01"): .bytes([0x31])]),
        map(
            "a long bundle version", AppAttestReasons.extensionMapMalformed,
            [.text("apple_bundle_version_01"): .text(String(repeating: "1", count: 257))]),
        map(
            "a code directory's hash of 20 bytes", AppAttestReasons.extensionMapMalformed,
            [.text("apple_cd_hash_hash_01"): .bytes([UInt8](repeating: 1, count: 20))]),
        map(
            "a kind of hash of 2 bytes", AppAttestReasons.extensionMapMalformed,
            [.text("apple_cd_hash_type_01"): .bytes([2, 0])]),
        map(
            "a code directory's hash", AppAttestReasons.nonceMismatch,
            [
                .text("apple_cd_hash_hash_01"): .bytes([UInt8](repeating: 1, count: 32)),
                .text("apple_cd_hash_type_01"): .bytes([2]),
            ]),
        map("a key that is no text", AppAttestReasons.extensionMapMalformed, [.unsigned(1): .null]),
        map("a long key", AppAttestReasons.extensionMapMalformed, [.text(String(repeating: "k", count: 65)): .null]),
        map("a key twice", AppAttestReasons.cborDuplicateKey, [.text("k"): .null, .text("k"): .null]),
        map("an unknown key", AppAttestReasons.nonceMismatch, [.text("k"): .array([.null])]),
        .data("17 keys", AppAttestReasons.extensionMapMalformed) { data in
            let pairs = (0..<17).map { CBORPair(.text("k\($0)"), .null) }
            return data.prefix(164) + CBOREncoder().encode(.map(pairs))
        },
    ]

    private static let category = CBORValue.text("apple_validation_category_01")

    private static func map(
        _ name: String, _ reason: Reason, _ pairs: KeyValuePairs<CBORValue, CBORValue>
    ) -> ShapeCase {
        let encoded = CBOREncoder().encode(AttestationParts.map(pairs))
        return .data(name, reason) { $0.prefix(164) + encoded }
    }

    private static func statement(
        _ name: String, _ reason: Reason?,
        _ change: @escaping @Sendable (AttestationParts) -> KeyValuePairs<CBORValue, CBORValue>
    ) -> ShapeCase {
        ShapeCase(name, reason) { parts in
            AttestationParts.encode([
                ("fmt", parts.format), ("attStmt", AttestationParts.map(change(parts))),
                ("authData", .bytes(parts.authenticatorData)),
            ])
        }
    }

    private static func certificates(
        _ name: String, _ reason: Reason?, _ change: @escaping @Sendable ([CBORValue]) throws -> [CBORValue]
    ) -> ShapeCase {
        ShapeCase(name, reason) { parts in
            var parts = parts
            parts.certificates = try change(parts.certificates)
            return parts.encoded
        }
    }

    private static func changingLast(_ bytes: [UInt8]) -> [UInt8] {
        bytes.isEmpty ? [] : bytes.replacing(at: bytes.count - 1, with: bytes[bytes.count - 1] ^ 1)
    }
}
