public import AssayCore
public import AssayKit

/// What Android knows an app by: the section `android` of an app in policies.
public struct AndroidIdentity: PlatformSection {
    /// The key of the section in an app: `android`.
    public static let name = "android"
    /// One sentence for the JSON Schema of policies.
    public static let summary = "Android's names for the app."
    /// The platform in the IDs of apps.
    public static let appPlatforms = ["android"]

    /// The keys of the section: `package` and `signing_digests`.
    public static let keys: [ExactText: PolicyKey] = [
        "package": PolicyKey("The name of the app's package, its application ID.", examples: ["com.example.app"]),
        "signing_digests": PolicyKey(
            """
            The SHA-256 of each certificate that the app may be signed with, in hexadecimal, with or without colons. With Play App \
            Signing it is the certificate of Google's signing key, not that of the upload key.
            """, .notEmpty),
    ]

    /// The name of the package.
    @Exact public private(set) var package: String
    /// The SHA-256 of each certificate that the app may be signed with: 32 bytes each, at least one.
    public let signingDigests: [[UInt8]]

    /// An app by its names, which are not judged here.
    public init(package: String, signingDigests: [[UInt8]]) {
        self.package = package
        self.signingDigests = signingDigests
    }

    /// Decodes the section, and judges the form of the names.
    public init(from decoder: any Decoder) throws {
        let section = try decoder.container(keyedBy: CodingKeys.self)
        package = try section.decode(PackageName.self, forKey: .package).text
        let digests = try section.decode([SigningDigest].self, forKey: .signingDigests)
        guard !digests.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .signingDigests, in: section, debugDescription: "expected at least one certificate's SHA-256")
        }
        signingDigests = digests.map(\.bytes)
    }

    private enum CodingKeys: String, CodingKey {
        case package
        case signingDigests = "signing_digests"
    }

    /// What Android knows an app by, for a provider that cannot do without.
    ///
    /// - `provider`: the provider's name for people, such as `Play Integrity`.
    /// - Throws: that the app has no section `android`.
    public static func of(
        _ app: AppIdentity, neededBy provider: String
    ) throws(ConfigurationError) -> AndroidIdentity {
        guard let identity = app.platform(AndroidIdentity.self) else {
            throw ConfigurationError(
                "\(provider) needs the app's `android` section with `package` and `signing_digests`")
        }
        return identity
    }
}

/// The name of a package (Android, `manifest` element: `package`).
private struct PackageName: WrittenAsText {
    static let textForm = TextForm(
        "The name of a package.", pattern: "^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$",
        examples: ["com.example.app"])

    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        let parts = text.split(onASCII: ".")
        guard text.utf8.count <= 255, parts.count > 1, parts.allSatisfy(Self.isPart) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a package such as com.example.app")
        }
    }

    private static func isPart(_ part: Substring) -> Bool {
        guard let first = part.utf8.first else { return false }
        return (first.isASCIILowercase || first.isASCIIUppercase)
            && part.utf8.allSatisfy {
                $0.isASCIILowercase || $0.isASCIIUppercase || $0.isASCIIDigit || $0 == UInt8(ascii: "_")
            }
    }
}

/// A SHA-256 in hexadecimal, as `keytool` and `apksigner` print it.
struct SigningDigest: WrittenAsText {
    static let textForm = TextForm(
        "A SHA-256 in hexadecimal, with or without colons.", pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
        examples: ["508d75dea10c5cbc3e7632260fc0b59f6055a8a49dd84e693b6d8899edbb01e4"])

    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = SHA256Digest.bytes(of: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected the 64 hexadecimal digits of a SHA-256, with or without colons")
        }
        self.bytes = bytes
    }
}

/// SHA-256 digests as people write them in policies.
public enum SHA256Digest {
    /// The 32 bytes of a digest in hexadecimal: 64 digits, or pairs of them with colons between; nil for any other text.
    public static func bytes(of text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        switch digits.count {
        case 64: return Hex.decode(text)
        case 95:
            guard digits.indices.allSatisfy({ ($0 % 3 == 2) == (digits[$0] == UInt8(ascii: ":")) }) else { return nil }
            return Hex.decode(String(decoding: digits.filter { $0 != UInt8(ascii: ":") }, as: UTF8.self))
        default: return nil
        }
    }
}
