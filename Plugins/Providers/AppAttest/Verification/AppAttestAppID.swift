public import AssayApple
public import AssayCore
internal import AssayCrypto

/// An App ID, `PREFIX.bundle`, and its digest: the relying party identifier in App Attest's evidence.
public struct AppAttestAppID: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a text is not an App ID.
    public enum Fault: Error, Sendable, Hashable {
        /// The App ID prefix, which mostly is the team identifier, is not ten capital letters and digits.
        case prefixInvalid
        /// The bundle identifier is missing.
        case bundleEmpty
        /// The bundle identifier is longer than 155 characters.
        case bundleTooLong
        /// The bundle identifier has a character other than ASCII letters, digits, hyphens, underscores and dots.
        case bundleInvalid
    }

    /// The App ID.
    @Exact public private(set) var text: String
    /// SHA-256 of the App ID.
    let digest: [UInt8]

    /// The App ID of a bundle.
    ///
    /// `prefix` is the team identifier, except for some apps from before 2011.
    ///
    /// The characters are those that Apple allows in a bundle identifier (Bundle Resources, CFBundleIdentifier), and the
    /// underscore, which Apple's own sample of an attestation has. No other text can look the same.
    public init(prefix: String, bundleID: String) throws(Fault) {
        let prefixBytes = Array(prefix.utf8)
        let bundle = Array(bundleID.utf8)
        guard prefixBytes.count == 10, prefixBytes.allSatisfy({ $0.isASCIIDigit || $0.isASCIIUppercase }) else {
            throw .prefixInvalid
        }
        guard !bundle.isEmpty else { throw .bundleEmpty }
        guard bundle.count <= 155 else { throw .bundleTooLong }
        guard bundle.allSatisfy(Self.isAllowedInBundle) else { throw .bundleInvalid }
        text = "\(prefix).\(bundleID)"
        digest = SHA256.hash(prefixBytes + [UInt8(ascii: ".")] + bundle)
    }

    /// The App ID of an app in a policy.
    public init(_ identity: AppleIdentity) throws(Fault) {
        try self.init(prefix: identity.appIDPrefix, bundleID: identity.bundleID)
    }

    /// The App ID in a text such as `ABCDE12345.com.example.app`.
    public init(_ text: String) throws(Fault) {
        let parts = text.split(onASCII: ".", maxSplits: 1)
        guard let prefix = parts.first else { throw .prefixInvalid }
        try self.init(prefix: String(prefix), bundleID: parts.count == 2 ? String(parts[1]) : "")
    }

    /// The App ID.
    public var description: String { text }

    private static func isAllowedInBundle(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-_.".utf8.contains(byte)
    }
}
