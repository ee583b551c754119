import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Testing

/// Attestations whose authenticator data is wrong; the nonce covers it as it stands.
extension NegativeCase<AttestationScene> {
    static let authenticatorData: [Self] = [
        head, credential, credentialIDLengths, credentialKey, credentialKeyForms, extensionMap,
    ].flatMap { $0 }

    private static let head: [Self] = [
        .refused(Reasons.authenticatorDataTruncated, "no authenticator data in its byte string") {
            $0.options.object = { $0["authData"] = .bytes([]) }
        },
        .refused(Reasons.authenticatorDataTruncated, "36 bytes of authenticator data") {
            $0.options.object = { $0["authData"] = .bytes([UInt8](repeating: 0, count: 36)) }
        },
        .refused(Reasons.appIDMismatch, "another team") { $0.expectedAppID = "ZZZZZ12345.com.example.app" },
        .refused(Reasons.appIDMismatch, "another bundle") { $0.expectedAppID = "ABCDE12345.com.example.apps" },
        .refused(Reasons.appIDMismatch, "another case") { $0.expectedAppID = "ABCDE12345.com.example.App" },
        .refused(Reasons.appIDMismatch, "a bundle identifier without its team") { $0.app.appID = "com.example.app" },
        .refused(Reasons.appIDMismatch, "a NUL behind the App ID") { $0.app.appID += "\0" },
        .refused(Reasons.appIDMismatch, "a Cyrillic letter that looks the same") {
            $0.app.appID = "ABCDE12345.com.example.\u{430}pp"
        },
        .refused(Reasons.counterNotZero, "counter 1") { $0.options.authenticatorData = { $0.counter = 1 } },
        .refused(Reasons.counterNotZero, "counter 2^31") {
            $0.options.authenticatorData = { $0.counter = 1 << 31 }
        },
        .refused(Reasons.counterNotZero, "counter 2^32 - 1") {
            $0.options.authenticatorData = { $0.counter = .max }
        },
        .accepted("no flag set") { $0.options.authenticatorData = { $0.flags = 0 } },
        .accepted("all flags set") { $0.options.authenticatorData = { $0.flags = 0xFF } },
        .accepted("a map that the flags do not announce") { $0.options.authenticatorData = { $0.flags = 0x40 } },
        .accepted("no map although the flags announce one") {
            $0.options.authenticatorData = {
                $0.flags = 0xC0
                $0.extensions = []
            }
        },
        .accepted("an iPhone with iOS 26") { $0.system = .iOS26 },
        .accepted("a Mac with macOS 27") { $0.system = .macOS27 },
    ]

    private static let credential: [Self] =
        [
            .refused(Reasons.attestedDataMissing, "nothing behind the counter") {
                $0.options.authenticatorData = {
                    $0.credential = nil
                    $0.extensions = []
                }
            },
            .refused(Reasons.credentialIDLength, "a map behind the counter, as in an assertion") {
                $0.options.authenticatorData = { $0.credential = nil }
            },
            .refused(Reasons.authenticatorDataTruncated, "an end within the AAGUID") {
                $0.options.authenticatorData = {
                    $0.credential = nil
                    $0.extensions = [UInt8](repeating: 0, count: 17)
                }
            },
            .refused(Reasons.authenticatorDataTruncated, "an end behind the credential identifier") {
                $0.options.authenticatorData = {
                    $0.credential?.publicKey = []
                    $0.extensions = []
                }
            },
            .refused(Reasons.aaguidUnknown, "an AAGUID of zeros") {
                $0.options.authenticatorData = { $0.credential?.aaguid = [UInt8](repeating: 0, count: 16) }
            },
            .refused(Reasons.aaguidUnknown, "an AAGUID with a NUL too few") {
                $0.options.authenticatorData = {
                    $0.credential?.aaguid = Array("appattest".utf8) + [0, 0, 0, 0, 0, 0, 1]
                }
            },
            .refused(Reasons.environmentNotAllowed, "a development key where production is expected") {
                $0.environments = [.production]
            },
            .refused(Reasons.environmentNotAllowed, "a production key where development is expected") {
                $0.app.environment = .production
            },
            .refused(Reasons.environmentNotAllowed, "no environment allowed") { $0.environments = [] },
            .accepted("a production key where both are allowed") {
                $0.app.environment = .production
                $0.environments = [.development, .production]
            },
            .refused(Reasons.credentialIDMismatch, "another credential identifier") {
                $0.options.authenticatorData = { $0.credential?.identifier = [UInt8](repeating: 7, count: 32) }
            },
        ]

    private static let credentialIDLengths: [Self] = [UInt16]([0, 31, 33, 256 + 32, 65_535]).map { length in
        .refused(Reasons.credentialIDLength, "a credential identifier of \(length) bytes") {
            $0.options.authenticatorData = { $0.credential?.declaredLength = length }
        }
    }

    private static let credentialKey: [Self] = [
        .refused(Reasons.coseKeyMismatch, "another key in the credential") {
            let other = try SimulatedKey(.p256, random: .seeded(99))
            $0.options.authenticatorData = { $0.credential?.publicKey = SimulatedCOSEKey(other).encoded }
        },
        .refused(Reasons.coseKeyMismatch, "the key's y coordinate negated") {
            let y = P256Numbers.subtract(try $0.key().y, from: P256Numbers.prime)
            try $0.changeCredentialKey { $0[4] = CBORPair(.negative(2), .bytes(y)) }
        },
        .refused(Reasons.coseKeyMalformed, "a key on P-384 throughout") { $0.curve = .p384 },
        .accepted("a key with a coordinate that begins with a zero byte") { scene in
            let seed = try (1000..<4000).first { try SimulatedKey(.p256, random: .seeded($0)).x.first == 0 }
            scene.keySeed = try #require(seed)
        },
        .refused(Reasons.cborDuplicateKey, "an x coordinate twice") {
            try $0.changeCredentialKey { $0[4] = $0[3] }
        },
        .accepted("a credential key whose parameters come in another order") {
            try $0.changeCredentialKey { $0.reverse() }
        },
        .refused(Reasons.cborNotDeterministic, "a credential key of indefinite length") {
            $0.options.authenticatorData = {
                $0.credential?.publicKey[0] = 0xBF
                $0.credential?.publicKey.append(0xFF)
            }
        },
    ]

    private static let credentialKeyForms: [Self] = [
        malformedKey("of another type") { $0[0] = CBORPair(.unsigned(1), .unsigned(1)) },
        malformedKey("for another algorithm") { $0[1] = CBORPair(.unsigned(3), .negative(34)) },
        malformedKey("on another curve") { $0[2] = CBORPair(.negative(0), .unsigned(2)) },
        malformedKey("with a sign for a coordinate") { $0[4] = CBORPair(.negative(2), .bool(true)) },
        malformedKey("without a y coordinate") { $0.removeLast() },
        malformedKey("with one more parameter") { $0.append(CBORPair(.unsigned(2), .bytes([1]))) },
        malformedKey("with an x coordinate of 31 bytes") {
            $0[3] = CBORPair(.negative(1), .bytes([UInt8](repeating: 1, count: 31)))
        },
        malformedKey("with an x coordinate of 33 bytes") {
            $0[3] = CBORPair(.negative(1), .bytes([UInt8](repeating: 0, count: 33)))
        },
    ]

    private static func malformedKey(
        _ rule: String, _ change: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> Self {
        .refused(Reasons.coseKeyMalformed, "a credential key \(rule)") { try $0.changeCredentialKey(change) }
    }

    private static let extensionMap: [Self] = ExtensionMapCase.all.map { row in
        Self(rule: row.rule, reason: row.reason) {
            $0.options.authenticatorData = { $0.extensions = row.bytes }
        }
    }
}

extension AttestationScene {
    /// Changes the parameters of the credential's COSE key.
    fileprivate mutating func changeCredentialKey(_ change: (inout [CBORPair]) -> Void) throws {
        var key = SimulatedCOSEKey(try key())
        change(&key.parameters)
        let encoded = key.encoded
        options.authenticatorData = { $0.credential?.publicKey = encoded }
    }
}
