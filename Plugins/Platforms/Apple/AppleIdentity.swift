public import AssayCore
public import AssayKit

/// What Apple knows an app by: the section `apple` of an app in policies.
public struct AppleIdentity: PlatformSection {
    /// The key of the section in an app: `apple`.
    public static let name = "apple"
    /// One sentence for the JSON Schema of policies.
    public static let summary = "Apple's names for the app."
    /// What the apps of one team share: `apple_teams: {ABCDE12345: {device_check: {…}}}`.
    public static let shared: SharedSection? = SharedSection(
        "apple_teams", by: "team_id", summary: "What the providers of all apps of a team need, by team identifiers.")

    /// Firebase calls the apps of all of Apple's systems `ios`.
    public static let appPlatforms = ["ios"]

    /// The keys of the section: `team_id`, `app_id_prefix` and `bundle_id`.
    public static let keys: [ExactText: PolicyKey] = [
        "team_id": PolicyKey(
            "The team identifier: ten upper-case letters and digits.", examples: ["ABCDE12345"]),
        "app_id_prefix": PolicyKey(
            """
            The App ID prefix, for older apps whose prefix is not their team: ten upper-case letters and digits; the team \
            when absent. App Attest's evidence has the prefix; Apple's servers are called for the team.
            """, examples: ["FGHIJ67890"]),
        "bundle_id": PolicyKey(
            "The bundle identifier; on macOS the signing identifier.", examples: ["com.example.app"]),
    ]

    /// The ten-character team identifier.
    @Exact public private(set) var teamID: String
    /// The ten characters that the App ID begins with: the team identifier, except for some apps from before 2011.
    @Exact public private(set) var appIDPrefix: String
    /// The bundle identifier; on macOS the signing identifier.
    @Exact public private(set) var bundleID: String

    /// An app by its names, which are not judged here.
    ///
    /// - `appIDPrefix`: the team when nil.
    public init(teamID: String, appIDPrefix: String? = nil, bundleID: String) {
        self.teamID = teamID
        self.appIDPrefix = appIDPrefix ?? teamID
        self.bundleID = bundleID
    }

    /// Decodes the section, and judges the form of the names.
    public init(from decoder: any Decoder) throws {
        let section = try decoder.container(keyedBy: CodingKeys.self)
        let team = try section.decode(TeamID.self, forKey: .teamID).text
        teamID = team
        appIDPrefix = try section.decodeIfPresent(AppIDPrefix.self, forKey: .appIDPrefix)?.text ?? team
        bundleID = try section.decode(BundleID.self, forKey: .bundleID).text
    }

    private enum CodingKeys: String, CodingKey {
        case teamID = "team_id"
        case appIDPrefix = "app_id_prefix"
        case bundleID = "bundle_id"
    }

    /// The App ID, `PREFIX.bundle`, whose SHA-256 is the relying party identifier in App Attest's evidence.
    public var appID: String { "\(appIDPrefix).\(bundleID)" }

    /// What Apple knows an app by, for a provider that cannot do without.
    ///
    /// - `provider`: the provider's name for people, such as `App Attest`.
    /// - Throws: that the app has no section `apple`.
    public static func of(
        _ app: AppIdentity, neededBy provider: String
    ) throws(ConfigurationError) -> AppleIdentity {
        guard let identity = app.platform(AppleIdentity.self) else {
            throw ConfigurationError("\(provider) needs the app's `apple` section with `team_id` and `bundle_id`")
        }
        return identity
    }
}

/// A team identifier.
private struct TeamID: WrittenAsText {
    static let textForm = TextForm("A team identifier.", pattern: "^[A-Z0-9]{10}$", examples: ["ABCDE12345"])

    let text: String

    init(from decoder: any Decoder) throws {
        text = try tenCharacters("an Apple team ID", from: decoder)
    }
}

/// An App ID prefix.
private struct AppIDPrefix: WrittenAsText {
    static let textForm = TextForm("An App ID prefix.", pattern: "^[A-Z0-9]{10}$", examples: ["FGHIJ67890"])

    let text: String

    init(from decoder: any Decoder) throws {
        text = try tenCharacters("an App ID prefix", from: decoder)
    }
}

/// - Parameter expected: what the text must be, for the error.
private func tenCharacters(_ expected: String, from decoder: any Decoder) throws -> String {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard text.utf8.count == 10, text.utf8.allSatisfy(isCapitalOrDigit) else {
        throw DecodingError.dataCorruptedError(
            in: container, debugDescription: "expected \(expected): ten upper-case letters and digits")
    }
    return text
}

/// A bundle identifier: letters, digits, hyphens, dots, and the underscores that some of Apple's own samples have.
private struct BundleID: WrittenAsText {
    static let textForm = TextForm(
        "A bundle identifier.", pattern: "^[A-Za-z0-9._-]{1,155}$", examples: ["com.example.app"])

    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard (1...155).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a bundle ID such as com.example.app")
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        isCapitalOrDigit(byte) || byte.isASCIILowercase || "-._".utf8.contains(byte)
    }
}

/// Whether a byte may be in Apple's identifiers of teams and keys.
func isCapitalOrDigit(_ byte: UInt8) -> Bool {
    byte.isASCIIUppercase || byte.isASCIIDigit
}
