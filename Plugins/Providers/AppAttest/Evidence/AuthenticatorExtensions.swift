internal import AssayCBOR
internal import AssayCore

/// What iOS 27 and macOS 27 add to authenticator data: a CBOR map with text keys, or nothing.
///
/// Apple, Validating Apps That Connect to Your Server. Keys that are not known are passed over, for the map is covered
/// by the nonce or by the signature, and Apple may add some.
struct AuthenticatorExtensions {
    let bundleVersion: String?
    let validationCategory: ValidationCategory?
    /// The digest of the code directory of a Mac's app, 32 bytes.
    let codeDirectoryHash: [UInt8]?
    /// The kind of that digest; 2 is SHA-256.
    let codeDirectoryHashType: UInt8?

    private static let entryLimit = 16
    private static let keyLimit = 64
    private static let textLimit = 256

    /// Reads what follows the credential or the counter, up to the end.
    init(_ bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) {
        guard !bytes.isEmpty else {
            bundleVersion = nil
            validationCategory = nil
            codeDirectoryHash = nil
            codeDirectoryHashType = nil
            return
        }
        let (value, count) = try EvidenceCBOR.first(in: bytes)
        let values = try Self.values(of: value)
        guard count == bytes.count else { throw AppAttestRefusal(AppAttestReasons.authenticatorDataTrailingBytes) }
        bundleVersion = try Self.text(values["apple_bundle_version_01"])
        // Apple calls the category a UInt32; devices send its four bytes, the lowest first.
        validationCategory = try Self.bytes(values["apple_validation_category_01"], count: 4).map { bytes in
            ValidationCategory(rawValue: bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
        codeDirectoryHash = try Self.bytes(values["apple_cd_hash_hash_01"], count: 32)
        codeDirectoryHashType = try Self.bytes(values["apple_cd_hash_type_01"], count: 1)?.first
    }

    private static func values(of value: CBORValue) throws(AppAttestRefusal) -> [ExactText: CBORValue] {
        guard let pairs = value.map, pairs.count <= entryLimit else {
            throw AppAttestRefusal(AppAttestReasons.extensionMapMalformed, "not a map, or a large one")
        }
        var values: [ExactText: CBORValue] = [:]
        for pair in pairs {
            guard let key = pair.key.text, key.utf8.count <= keyLimit else {
                throw AppAttestRefusal(AppAttestReasons.extensionMapMalformed, "a key that is not a short text")
            }
            values[key] = pair.value
        }
        return values
    }

    private static func text(_ value: CBORValue?) throws(AppAttestRefusal) -> String? {
        guard let value else { return nil }
        guard let text = value.text, text.utf8.count <= textLimit else {
            throw AppAttestRefusal(AppAttestReasons.extensionMapMalformed, "a value that is not a short text")
        }
        return text
    }

    private static func bytes(_ value: CBORValue?, count: Int) throws(AppAttestRefusal) -> [UInt8]? {
        guard let value else { return nil }
        guard let bytes = value.bytes, bytes.count == count else {
            throw AppAttestRefusal(AppAttestReasons.extensionMapMalformed, "a value that is not \(count) bytes")
        }
        return bytes
    }
}

/// How the system came to trust the app's code, as iOS 27 and macOS 27 report it.
///
/// Apple, Validating Apps That Connect to Your Server. The raw values are Apple's; values without a name here are kept.
public struct ValidationCategory: RawRepresentable, Sendable, Hashable {
    /// Apple's number of the category.
    public let rawValue: UInt32

    /// Makes a category from Apple's number; unknown numbers are kept.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Not validated.
    public static let invalid = ValidationCategory(rawValue: 0)
    /// Part of the operating system.
    public static let system = ValidationCategory(rawValue: 1)
    /// Installed with TestFlight.
    public static let testFlight = ValidationCategory(rawValue: 2)
    /// Signed for development.
    public static let development = ValidationCategory(rawValue: 3)
    /// Installed from the App Store.
    public static let appStore = ValidationCategory(rawValue: 4)
    /// Signed for an enterprise or for ad hoc distribution.
    public static let enterprise = ValidationCategory(rawValue: 5)
    /// Signed with a Developer ID, on macOS.
    public static let developerID = ValidationCategory(rawValue: 6)
    /// None of the others.
    public static let none = ValidationCategory(rawValue: 10)
}
