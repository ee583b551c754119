import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import Testing

/// Assertions of real devices, and changes to them.
@Suite(.enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)))
struct AssertionTests {
    @Test("A genuine assertion verifies, and what it says is read", arguments: Fixture.assertions)
    func verifies(_ fixture: Fixture) throws {
        let outcome = AssertionVerifier().verify(
            try fixture.bytes("assertion_base64"), publicKey: try fixture.publicKey(),
            expecting: try fixture.assertionExpectation())
        let result = try #require(outcome.verified, "\(outcome)")
        #expect(Int(result.counter) == fixture.number("counter"))
        #expect(Int(result.flags) == fixture.number("auth_data_flags"))
        let extensions = fixture.object("auth_data_extensions")
        #expect(result.bundleVersion == extensions["apple_bundle_version_01"]?.text)
        #expect((result.validationCategory == .development) == (extensions["apple_validation_category_01"] != nil))
        #expect(result.codeDirectoryHash == nil)
    }

    @Test("The counter must be above the one before", arguments: Fixture.assertions)
    func counter(_ fixture: Fixture) throws {
        let counter = UInt32(try #require(fixture.number("counter")))
        for (previous, isGood) in [
            (0, true), (counter - 1, true), (counter, false), (counter + 1, false), (.max, false),
        ] {
            let outcome = AssertionVerifier().verify(
                try fixture.bytes("assertion_base64"), publicKey: try fixture.publicKey(),
                expecting: AssertionExpectation(
                    appID: try fixture.appID(), clientDataHash: try fixture.bytes("client_data_hash_base64"),
                    previousCounter: previous))
            #expect((outcome.verified != nil) == isGood)
            if !isGood { #expect(outcome.refusal?.reason == AppAttestReasons.counterNotAdvanced) }
        }
    }

    @Test("Client data, key and App ID must be those of the assertion")
    func otherInputs() throws {
        let fixture = try #require(Fixture.assertions.first { $0.path.contains("71b0c264") })
        let other = try #require(Fixture.assertions.first { $0.path.contains("acf1d534") })
        let assertion = try fixture.bytes("assertion_base64")
        let hash = try fixture.bytes("client_data_hash_base64")
        func reason(key: [UInt8], appID: AppAttestAppID, hash: [UInt8]) -> Reason? {
            AssertionVerifier().verify(
                assertion, publicKey: key,
                expecting: AssertionExpectation(appID: appID, clientDataHash: hash, previousCounter: 0)
            ).refusal?.reason
        }
        let key = try fixture.publicKey()
        let appID = try fixture.appID()
        #expect(reason(key: key, appID: appID, hash: hash) == nil)
        #expect(reason(key: key, appID: appID, hash: hash + [0]) == AppAttestReasons.assertionSignatureInvalid)
        #expect(reason(key: key, appID: appID, hash: []) == AppAttestReasons.assertionSignatureInvalid)
        #expect(
            reason(key: try other.publicKey(), appID: appID, hash: hash) == AppAttestReasons.assertionSignatureInvalid)
        #expect(reason(key: key, appID: try other.appID(), hash: hash) == AppAttestReasons.appIDMismatch)
        #expect(reason(key: [], appID: appID, hash: hash) == AppAttestReasons.assertionKeyInvalid)
        #expect(
            reason(key: key.replacing(at: 64, with: key[64] ^ 1), appID: appID, hash: hash)
                == AppAttestReasons.assertionKeyInvalid)
    }

    @Test("The form of an assertion", arguments: shapes)
    func shape(_ shape: AssertionShape) throws {
        let fixture = try #require(Fixture.assertions.first { $0.path.contains("71b0c264") })
        let object = try CBORDecoder().decode(fixture.bytes("assertion_base64"))
        let bytes = shape.change(
            try #require(object["signature"]?.bytes), try #require(object["authenticatorData"]?.bytes))
        let outcome = AssertionVerifier().verify(
            bytes, publicKey: try fixture.publicKey(), expecting: try fixture.assertionExpectation())
        #expect(outcome.refusal?.reason == shape.reason, "\(outcome)")
    }

    struct AssertionShape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: Reason?
        let change: @Sendable (_ signature: [UInt8], _ data: [UInt8]) -> [UInt8]
    }

    private static func encode(_ signature: [UInt8], _ data: [UInt8]) -> [UInt8] {
        AttestationParts.encode([("signature", .bytes(signature)), ("authenticatorData", .bytes(data))])
    }

    private static func shape(
        _ name: String, _ reason: Reason?, _ change: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) -> AssertionShape {
        AssertionShape(testDescription: name, reason: reason, change: change)
    }

    static let shapes: [AssertionShape] = [
        shape("as it was", nil, encode),
        shape("keys in the other order", nil) {
            AttestationParts.encode([("authenticatorData", .bytes($1)), ("signature", .bytes($0))])
        },
        shape("nothing", AppAttestReasons.cborTruncated) { _, _ in [] },
        shape("an array", AppAttestReasons.cborTypeUnexpected) { _, _ in [0x80] },
        shape("too many bytes", AppAttestReasons.evidenceTooLarge) {
            encode($0, $1) + [UInt8](repeating: 0, count: 4096)
        },
        shape("a byte more", AppAttestReasons.cborTrailingBytes) { encode($0, $1) + [0] },
        shape("a third key", nil) {
            AttestationParts.encode([("signature", .bytes($0)), ("authenticatorData", .bytes($1)), ("x", .null)])
        },
        shape("a third key twice", AppAttestReasons.cborDuplicateKey) {
            AttestationParts.encode([
                ("signature", .bytes($0)), ("authenticatorData", .bytes($1)), ("x", .null), ("x", .null),
            ])
        },
        shape("no signature", AppAttestReasons.assertionSignatureMissing) {
            AttestationParts.encode([("authenticatorData", .bytes($1))])
        },
        shape("no data", AppAttestReasons.authenticatorDataMissing) { signature, _ in
            AttestationParts.encode([("signature", .bytes(signature))])
        },
        shape("data of 36 bytes", AppAttestReasons.authenticatorDataTruncated) { encode($0, Array($1.prefix(36))) },
        shape("the map left out", AppAttestReasons.assertionSignatureInvalid) { encode($0, Array($1.prefix(37))) },
        shape("a byte behind the map", AppAttestReasons.authenticatorDataTrailingBytes) { encode($0, $1 + [0]) },
        shape("other flags", AppAttestReasons.assertionSignatureInvalid) { encode($0, $1.replacing(at: 32, with: 0)) },
        shape("another counter", AppAttestReasons.assertionSignatureInvalid) {
            encode($0, $1.replacing(at: 33, with: 0xFF))
        },
        shape("a counter of 0", AppAttestReasons.counterNotAdvanced) { encode($0, $1.replacing(at: 36, with: 0)) },
        shape("an empty signature", AppAttestReasons.assertionSignatureInvalid) { encode([], $1) },
        shape("a signature with a byte more", AppAttestReasons.assertionSignatureInvalid) { encode($0 + [0], $1) },
        shape("r and s of 0", AppAttestReasons.assertionSignatureInvalid) { encode([0x30, 6, 2, 1, 0, 2, 1, 0], $1) },
        shape("a length in the long form", AppAttestReasons.assertionSignatureInvalid) {
            encode([0x30, 0x81] + $0.dropFirst(), $1)
        },
    ]
}
