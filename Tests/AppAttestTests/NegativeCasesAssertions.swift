import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// Assertions that are wrong, or unusual and good.
extension NegativeCase<AssertionScene> {
    static let all: [Self] = encoding + agreement + counters + signatures + extensionMap

    private static let encoding: [Self] = [
        .refused(Reasons.cborTruncated, "nothing at all") { $0.options.encoded = { $0 = [] } },
        .refused(Reasons.cborTruncated, "the last byte missing") { $0.options.encoded = { $0.removeLast() } },
        .refused(Reasons.cborTrailingBytes, "one byte behind the assertion") { $0.options.encoded = { $0.append(0) } },
        .refused(Reasons.cborTypeUnexpected, "a number") { $0.options.encoded = { $0 = [0] } },
        .refused(Reasons.evidenceTooLarge, "more than 4 KiB") {
            $0.options.encoded = { $0 += [UInt8](repeating: 0, count: 4096) }
        },
        .refused(Reasons.cborTrailingBytes, "4 KiB, of which the last are too many") {
            $0.options.encoded = { $0 += [UInt8](repeating: 0, count: 4096 - $0.count) }
        },
        .refused(Reasons.evidenceTooLarge, "one byte more than 4 KiB") {
            $0.options.encoded = { $0 += [UInt8](repeating: 0, count: 4097 - $0.count) }
        },
        .refused(Reasons.assertionSignatureMissing, "no signature") { $0.options.object = { $0["signature"] = nil } },
        .refused(Reasons.cborTypeUnexpected, "a signature as text") {
            $0.options.object = { $0["signature"] = .text("a") }
        },
        .refused(Reasons.authenticatorDataMissing, "no authenticator data") {
            $0.options.object = { $0["authenticatorData"] = nil }
        },
        .accepted("one more key") { $0.options.object = { $0["userHandle"] = .bytes([1]) } },
        .refused(Reasons.cborUnknownKey, "one more key that is a number") {
            $0.options.object = { $0.append(CBORPair(.unsigned(1), .null)) }
        },
        .refused(Reasons.cborDuplicateKey, "one more key, twice") {
            $0.options.object = { $0 += [CBORPair(.text("k"), .null), CBORPair(.text("k"), .null)] }
        },
        .refused(Reasons.cborDuplicateKey, "two signatures") {
            $0.options.object = { $0.append(CBORPair(.text("signature"), .bytes([1]))) }
        },
        .refused(Reasons.cborNotDeterministic, "a map of indefinite length") {
            $0.options.encoded = { $0 = [0xBF] + $0.dropFirst() + [0xFF] }
        },
        .refused(Reasons.authenticatorDataTruncated, "36 bytes of authenticator data") {
            $0.options.object = { $0["authenticatorData"] = .bytes([UInt8](repeating: 0, count: 36)) }
        },
        .accepted("keys in another order") { $0.options.object = { $0.reverse() } },
    ]

    private static let agreement: [Self] = [
        .refused(Reasons.appIDMismatch, "another App ID") { $0.expectedAppID = "ABCDE12345.com.example.other" },
        .refused(Reasons.assertionSignatureInvalid, "other client data") {
            $0.expectedClientDataHash = SHA256.hash(Array("another request".utf8))
        },
        .refused(Reasons.assertionSignatureInvalid, "client data where none is expected") {
            $0.expectedClientDataHash = []
        },
        .refused(Reasons.assertionSignatureInvalid, "the end of authenticator data moved into client data") {
            // Both sides of the seam are the same bytes in a row; what is signed must not depend on the seam alone.
            $0.options.object = {
                $0.changeBytes("authenticatorData") { Array($0.prefix(37)) }
            }
        },
        .refused(Reasons.assertionSignatureInvalid, "another key") {
            $0.publicKey = try SimulatedKey(.p256, random: .seeded(99)).point
        },
        .refused(Reasons.assertionKeyInvalid, "a stored key that is not on the curve") {
            $0.publicKey = try SimulatedKey(.p256, random: .seeded(99)).point.flipping(-1)
        },
        .refused(Reasons.assertionKeyInvalid, "a stored key on P-384") {
            $0.publicKey = try SimulatedKey(.p384, random: .seeded(99)).point
        },
        .refused(Reasons.assertionKeyInvalid, "no stored key") { $0.publicKey = [] },
        .accepted("client data that is no hash") {
            $0.clientDataHash = Array("a raw challenge".utf8)
            $0.expectedClientDataHash = $0.clientDataHash
        },
        .accepted("an iPhone with iOS 26, without a map") { $0.system = .iOS26 },
        .accepted("a Mac, with a map that the flags do not announce") { $0.system = .macOS27 },
        .accepted("the flag of attested data, which is not there") {
            $0.options.authenticatorData = {
                $0.flags = 0x40
                $0.extensions = []
            }
        },
        .accepted("both flags, and neither credential nor map") {
            $0.options.authenticatorData = {
                $0.flags = 0xC0
                $0.extensions = []
            }
        },
        .accepted("no flag, and a map") { $0.options.authenticatorData = { $0.flags = 0 } },
    ]

    private static let counters: [Self] = [
        .refused(Reasons.counterNotAdvanced, "counter 0 on the first assertion") {
            $0.options.authenticatorData = { $0.counter = 0 }
        },
        .refused(Reasons.counterNotAdvanced, "the same counter") {
            $0.ordinal = 5
            $0.previousCounter = 5
        },
        .refused(Reasons.counterNotAdvanced, "a lower counter") {
            $0.ordinal = 5
            $0.previousCounter = 6
        },
        .refused(Reasons.counterNotAdvanced, "a counter that went back to 1 after 2^32 - 1") {
            $0.previousCounter = .max
        },
        .refused(Reasons.counterNotAdvanced, "counter 2^32 - 1 twice") {
            $0.options.authenticatorData = { $0.counter = .max }
            $0.previousCounter = .max
        },
        .refused(Reasons.counterNotAdvanced, "counter 2^31 - 1 after 2^31, which is less only without a sign") {
            $0.options.authenticatorData = { $0.counter = (1 << 31) - 1 }
            $0.previousCounter = 1 << 31
        },
        .accepted("a gap") {
            $0.ordinal = 9
            $0.previousCounter = 3
        },
        .accepted("counter 2^31") {
            $0.options.authenticatorData = { $0.counter = 1 << 31 }
            $0.previousCounter = (1 << 31) - 1
        },
        .accepted("counter 2^32 - 1") {
            $0.options.authenticatorData = { $0.counter = .max }
            $0.previousCounter = .max - 1
        },
        .refused(Reasons.assertionSignatureInvalid, "a counter raised after signing") {
            $0.options.object = {
                $0.changeBytes("authenticatorData") { $0.flipping(35) }
            }
        },
    ]

    private static let signatures: [Self] = [
        .accepted("a high s") { $0.options.signature = { $0 = ECDSANumbers($0).withHighS.encoded } },
        .accepted("a low s") { $0.options.signature = { $0 = ECDSANumbers($0).withLowS.encoded } },
        .refused(Reasons.assertionSignatureInvalid, "the nonce signed as if it were the digest") { scene in
            // ECDSA hashes what it is given once; given what the nonce is the hash of, it signs the nonce itself.
            let hash = scene.clientDataHash
            let data = ByteBox()
            scene.options.authenticatorData = { data.bytes = $0.bytes }
            scene.options.message = { $0 = data.bytes + hash }
        },
        malformed("with a flipped bit") { $0.flipping(-1) },
        malformed("of no bytes") { _ in [] },
        malformed("with r = 0") { ECDSANumbers(r: [0], s: ECDSANumbers($0).s).encoded },
        malformed("with s = 0") { ECDSANumbers(r: ECDSANumbers($0).r, s: [0]).encoded },
        malformed("with r = s = 0") { _ in ECDSANumbers(r: [0], s: [0]).encoded },
        malformed("with r = n") { ECDSANumbers(r: P256Numbers.order, s: ECDSANumbers($0).s).encoded },
        malformed("with s = n") { ECDSANumbers(r: ECDSANumbers($0).r, s: P256Numbers.order).encoded },
        malformed("as r and s without DER") { ECDSANumbers($0).raw },
        malformed("with superfluous zeros before r") { ECDSANumbers($0).overlong },
        malformed("with r as a negative number") { ECDSANumbers($0).negative },
        malformed("with its length in two bytes") { [0x30, 0x81] + $0.dropFirst() },
        malformed("with a byte behind it") { $0 + [0] },
        malformed("with a third number") { DERWriter.value(0x30, Array($0.dropFirst(2)) + [2, 1, 1]) },
        malformed("in a set") { [0x31] + $0.dropFirst() },
        malformed("cut short") { $0.dropLast() },
    ]

    private static func malformed(_ rule: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) -> Self {
        .refused(Reasons.assertionSignatureInvalid, "a signature \(rule)") {
            $0.options.signature = { $0 = change($0) }
        }
    }

    private static let extensionMap: [Self] =
        ExtensionMapCase.all.map { row in
            Self(rule: row.rule, reason: row.reason) {
                $0.options.authenticatorData = { $0.extensions = row.bytes }
            }
        } + [
            .refused(Reasons.assertionSignatureInvalid, "a category changed after signing") {
                $0.options.object = {
                    $0.changeBytes("authenticatorData") { $0.replacingFirst([3, 0, 0, 0], with: [4, 0, 0, 0]) }
                }
            },
            .refused(Reasons.assertionSignatureInvalid, "a flag changed after signing") {
                $0.options.object = {
                    $0.changeBytes("authenticatorData") { $0.flipping(32) }
                }
            },
        ]
}
