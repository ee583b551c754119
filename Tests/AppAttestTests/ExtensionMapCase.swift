import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayKit

/// What may stand behind the key of an attestation or the counter of an assertion, and what may not.
struct ExtensionMapCase: Sendable {
    let rule: String
    /// Nil where it must be accepted.
    let reason: Reason?
    let bytes: [UInt8]

    private init(_ rule: String, _ reason: Reason?, bytes: [UInt8]) {
        self.rule = rule
        self.reason = reason
        self.bytes = bytes
    }

    private init(_ rule: String, _ reason: Reason?, _ pairs: [CBORPair]) {
        self.init(rule, reason, bytes: CBOREncoder().encode(.map(pairs)))
    }

    private static let version = CBORPair(.text("apple_bundle_version_01"), .text("1"))
    private static func category(_ value: CBORValue) -> CBORPair {
        CBORPair(.text("apple_validation_category_01"), value)
    }
    private static let genuine = CBOREncoder().encode(.map([version, category(.bytes([3, 0, 0, 0]))]))

    static let all: [ExtensionMapCase] = [
        ExtensionMapCase("no map", nil, bytes: []),
        ExtensionMapCase("an empty map", nil, []),
        ExtensionMapCase("a category only", nil, [category(.bytes([3, 0, 0, 0]))]),
        ExtensionMapCase("a key that is not known yet", nil, [version, CBORPair(.text("apple_new_01"), .null)]),
        ExtensionMapCase("a category of 0xFFFFFFFF", nil, [category(.bytes([255, 255, 255, 255]))]),
        ExtensionMapCase("keys in another order", nil, [category(.bytes([3, 0, 0, 0])), version]),
        ExtensionMapCase("a number", Reasons.extensionMapMalformed, bytes: [0x00]),
        ExtensionMapCase("an array", Reasons.extensionMapMalformed, bytes: [0x80]),
        ExtensionMapCase("null", Reasons.extensionMapMalformed, bytes: [0xF6]),
        ExtensionMapCase("a key that is a number", Reasons.extensionMapMalformed, [CBORPair(.unsigned(1), .null)]),
        ExtensionMapCase("a truncated map", Reasons.cborTruncated, bytes: genuine.dropLast()),
        ExtensionMapCase("a zero byte behind the map", Reasons.authenticatorDataTrailingBytes, bytes: genuine + [0]),
        ExtensionMapCase("two maps", Reasons.authenticatorDataTrailingBytes, bytes: genuine + genuine),
        ExtensionMapCase(
            "a map of indefinite length", Reasons.cborNotDeterministic, bytes: [0xBF] + genuine.dropFirst() + [0xFF]),
        ExtensionMapCase("the version twice", Reasons.cborDuplicateKey, [version, version]),
        ExtensionMapCase("a category as text", Reasons.extensionMapMalformed, [category(.text("3"))]),
        ExtensionMapCase("a category as a number", Reasons.extensionMapMalformed, [category(.unsigned(3))]),
        ExtensionMapCase("a category of 3 bytes", Reasons.extensionMapMalformed, [category(.bytes([3, 0, 0]))]),
        ExtensionMapCase("a category of 5 bytes", Reasons.extensionMapMalformed, [category(.bytes([3, 0, 0, 0, 0]))]),
        ExtensionMapCase(
            "a version as bytes", Reasons.extensionMapMalformed,
            [CBORPair(.text("apple_bundle_version_01"), .bytes([0x31]))]),
        ExtensionMapCase(
            "a code directory's hash of 31 bytes", Reasons.extensionMapMalformed,
            [CBORPair(.text("apple_cd_hash_hash_01"), .bytes([UInt8](repeating: 1, count: 31)))]),
        ExtensionMapCase(
            "a hash type of two bytes", Reasons.extensionMapMalformed,
            [CBORPair(.text("apple_cd_hash_type_01"), .bytes([2, 0]))]),
    ]
}
