public import AssayCore
public import AssayKit

/// What browsers know an app by: the section `web` of an app in policies.
public struct WebIdentity: PlatformSection {
    /// The key of the section in an app: `web`.
    public static let name = "web"
    /// One sentence for the JSON Schema of policies.
    public static let summary = "Where the pages of the app are."
    /// The platform in the IDs of apps.
    public static let appPlatforms = ["web"]

    /// The keys of the section: `origins`.
    public static let keys: [ExactText: PolicyKey] = [
        "origins": PolicyKey(
            "The origins of the app's pages: scheme, host and a port that is not the scheme's own, and no path.",
            .notEmpty)
    ]

    /// The origins of the app's pages, at least one.
    public let origins: [WebOrigin]

    /// An app by the origins of its pages, which are not judged here.
    public init(origins: [WebOrigin]) {
        self.origins = origins
    }

    /// Decodes the section, and judges the form of the origins.
    public init(from decoder: any Decoder) throws {
        let section = try decoder.container(keyedBy: CodingKeys.self)
        origins = try section.decode([WebOrigin].self, forKey: .origins)
        guard (1...Self.limit).contains(origins.count), Set(origins).count == origins.count else {
            throw DecodingError.dataCorruptedError(
                forKey: .origins, in: section, debugDescription: "expected 1 to \(Self.limit) origins, each once")
        }
    }

    private static let limit = 64

    private enum CodingKeys: String, CodingKey {
        case origins
    }

    /// The hosts of the origins, each once.
    public var hosts: [String] {
        var seen: Set<ExactText> = []
        return origins.map(\.host).filter { seen.insert(ExactText($0)).inserted }
    }

    /// What browsers know an app by, for a provider that cannot do without.
    ///
    /// - `provider`: the provider's name for people, such as `Turnstile`.
    /// - Throws: that the app has no section `web`.
    public static func of(_ app: AppIdentity, neededBy provider: String) throws(ConfigurationError) -> WebIdentity {
        guard let identity = app.platform(WebIdentity.self) else {
            throw ConfigurationError("\(provider) needs the app's `web` section with `origins`")
        }
        return identity
    }
}

/// An origin as browsers write it (WHATWG HTML, "Origin": serialization), such as `https://example.com`.
public struct WebOrigin: WrittenAsText, Sendable, Hashable, CustomStringConvertible {
    /// The form in policies.
    public static let textForm = TextForm(
        "An origin: `https://HOST` or `https://HOST:PORT`, in lower case; http for this machine only.",
        pattern: "^(https://[a-z0-9][a-z0-9.-]{0,252}|http://(localhost|127\\.0\\.0\\.1))(:[0-9]{1,5})?$",
        examples: ["https://example.com"])

    /// The whole origin.
    @Exact public private(set) var text: String
    /// The name of the host, or its IPv4 address.
    @Exact public private(set) var host: String

    /// An origin from its text; nil for any other text.
    public init?(_ text: String) {
        // A browser leaves out the port of the scheme, and writes names in lower case.
        guard let url = EndpointURL(text), url.path.isEmpty, url.query.isNil, text.hasOnlyLowerCase,
            !url.host.utf8.contains(UInt8(ascii: ":")), !url.host.utf8.contains(UInt8(ascii: "_")),
            let first = url.host.utf8.first, first.isASCIILetterOrDigit,
            !text.ends(withExactly: url.isSecure ? ":443" : ":80")
        else { return nil }
        self.text = text
        host = url.host
    }

    /// Decodes an origin from its text; the decoding fails for any other form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let origin = WebOrigin(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected an origin such as https://example.com: lower case, no path, and no port "
                    + "that is the scheme's own; http is for localhost only")
        }
        self = origin
    }

    /// Same as ``text``.
    public var description: String { text }
}

extension String {
    fileprivate var hasOnlyLowerCase: Bool { utf8.allSatisfy { !$0.isASCIIUppercase } }
}
