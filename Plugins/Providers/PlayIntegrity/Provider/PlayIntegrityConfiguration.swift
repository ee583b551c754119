public import AssayCore
internal import AssayKit

/// The section `play_integrity` of a policy.
///
/// What Google's `PlayIntegrityConfig` has has Google's defaults; all that Google does not judge is off.
public struct PlayIntegrityConfiguration: Decodable, Sendable {
    /// What happens to the answers that the Play Console gives testers.
    public enum Testing: String, Decodable, Sendable, CaseIterable {
        case refuse
        case accept
    }

    /// The keys that open classic tokens here, the newest first; Google is asked when absent.
    public let responseKeys: [PlayResponseKeysConfiguration]?
    /// The key file of the service account that asks Google.
    public let serviceAccount: SecretReference?
    /// Whether the app may be one that Google Play does not know; false when absent.
    public let allowUnrecognizedVersion: Bool?
    /// What the device must meet at least; `none` when absent.
    public let minimumLevel: PlayDeviceLevel?
    /// Whether the user must have got the app from Google Play; false when absent.
    public let requireLicensed: Bool?
    /// How old a token may be; ten minutes when absent.
    public let maximumAge: Duration?
    /// The least version code of the app; any when absent.
    public let minimumVersionCode: Int?
    /// The oldest version of Android, as its API level; any when absent.
    public let minimumSDKVersion: Int?
    /// What is refused of what Google says beside; nothing when absent.
    public let refuse: PlayRefusedValues?
    /// The bits that Google keeps of devices; callers can neither read nor set them when absent.
    public let deviceRecall: PlayRecallConfiguration?
    /// What happens to the answers for testers; `refuse` when absent, except in projects for development.
    public let testing: Testing?
    /// The URL that is called instead of Google's server of Play Integrity.
    public let baseURL: EndpointURL?
    /// The URL that is called instead of Google's endpoint for access tokens.
    public let tokenURL: EndpointURL?

    enum CodingKeys: String, CodingKey {
        case responseKeys = "response_keys"
        case serviceAccount = "service_account"
        case allowUnrecognizedVersion = "allow_unrecognized_version"
        case minimumLevel = "min_device_level"
        case requireLicensed = "require_licensed"
        case maximumAge = "max_age"
        case minimumVersionCode = "min_version_code"
        case minimumSDKVersion = "min_sdk_version"
        case refuse, testing
        case deviceRecall = "device_recall"
        case baseURL = "base_url"
        case tokenURL = "token_url"
    }

    static let ages: ClosedRange<Duration> = .seconds(30) ... .seconds(3600)
    static let standardAge = Duration.seconds(600)
    static let versionCodes = 0...2_147_483_647
    static let sdkVersions = 21...1000
}

extension PlayIntegrityConfiguration: DescribedConfiguration {
    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "response_keys": PolicyKey(
            """
            The response encryption keys of the Play Console, the newest first, at most two pairs: with them, classic tokens are opened \
            here. When absent, Google is asked.
            """, .notEmpty),
        "service_account": """
        The location of the key file of the service account that asks Google (`decodeIntegrityToken`): `file:PATH` or `env:NAME`. \
        Standard tokens need it, and classic ones without `response_keys`.
        """,
        "allow_unrecognized_version": PolicyKey(
            """
            Whether an app passes that Google Play does not know (`UNRECOGNIZED_VERSION`), or that was not looked at (`UNEVALUATED`): for \
            apps that are not on Google Play.
            """, standard: false),
        "min_device_level": PolicyKey(
            """
            What the device must meet at least: nothing (`none`), `MEETS_BASIC_INTEGRITY` (`basic`), `MEETS_DEVICE_INTEGRITY` (`device`) or \
            `MEETS_STRONG_INTEGRITY` (`strong`). Choose the labels in the Play Console, too.
            """, standard: "none"),
        "require_licensed": PolicyKey(
            "Whether the user must have got the app from Google Play (`LICENSED`).", standard: false),
        "max_age": PolicyKey("How old a token may be.", .durations(ages), standard: "10m"),
        "min_version_code": PolicyKey(
            "The least version code of the app, as Google Play knows it; any when absent.", .range(versionCodes),
            examples: [42]),
        "min_sdk_version": PolicyKey(
            "The oldest version of Android, as its API level; any when absent. Choose device attributes in the Play Console, too.",
            .range(sdkVersions), examples: [33]),
        "refuse": """
        What is refused of what Google says beside; nothing when absent. Try it under `shadow` first: such verdicts are often wrong \
        about genuine users.
        """,
        "device_recall": """
        The three bits that Google keeps of a device for the developer: with this section, callers with a permission read and set them. \
        Setting them needs `service_account`.
        """,
        "testing": PolicyKey(
            """
            What happens to the answers that the Play Console gives testers: they are made up. In a project of the stage `development` \
            they are accepted if this is absent.
            """, standard: "refuse", development: .words(["accept"])),
        "base_url": "The URL that is called instead of Google's server of Play Integrity.",
        "token_url": "The URL that is called instead of Google's endpoint for access tokens.",
    ]
}

/// One generation of the keys for classic tokens.
public struct PlayResponseKeysConfiguration: Decodable, Sendable {
    /// Opens tokens: 32 bytes.
    public let decryptionKey: SecretReference
    /// Verifies tokens: a public key on P-256.
    public let verificationKey: SecretReference

    enum CodingKeys: String, CodingKey {
        case decryptionKey = "decryption_key"
        case verificationKey = "verification_key"
    }
}

extension PlayResponseKeysConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "decryption_key": """
        The location of the key that opens tokens: `file:PATH` or `env:NAME`. It is in Base64, alone or in a line \
        `DECRYPTION_KEY=…`, as in the file of the Play Console after `openssl` has decrypted it.
        """,
        "verification_key": """
        The location of the key that verifies tokens: in Base64, alone or in a line `VERIFICATION_KEY=…`; it may be the same file.
        """,
    ]
}

/// The values that are refused, for each thing that Google says beside the app, the device and the licence.
///
/// `UNEVALUATED` stands also for what is absent.
public struct PlayRefusedValues: Decodable, Sendable {
    /// How many tokens the app has got on this device in the last hour.
    public enum Activity: String, Decodable, Sendable, CaseIterable {
        case level1 = "LEVEL_1"
        case level2 = "LEVEL_2"
        case level3 = "LEVEL_3"
        case level4 = "LEVEL_4"
        case unevaluated = "UNEVALUATED"
    }

    /// What other apps could do to this one.
    public enum AccessRisk: String, Decodable, Sendable, CaseIterable {
        case knownInstalled = "KNOWN_INSTALLED"
        case knownCapturing = "KNOWN_CAPTURING"
        case knownOverlays = "KNOWN_OVERLAYS"
        case knownControlling = "KNOWN_CONTROLLING"
        case unknownInstalled = "UNKNOWN_INSTALLED"
        case unknownCapturing = "UNKNOWN_CAPTURING"
        case unknownOverlays = "UNKNOWN_OVERLAYS"
        case unknownControlling = "UNKNOWN_CONTROLLING"
        case unevaluated = "UNEVALUATED"
    }

    /// What Play Protect has found.
    public enum Protect: String, Decodable, Sendable, CaseIterable {
        case noIssues = "NO_ISSUES"
        case noData = "NO_DATA"
        case possibleRisk = "POSSIBLE_RISK"
        case mediumRisk = "MEDIUM_RISK"
        case highRisk = "HIGH_RISK"
        case unevaluated = "UNEVALUATED"
    }

    /// How likely the device's place is false.
    public enum Location: String, Decodable, Sendable, CaseIterable {
        case lowDevice = "LOW_RISK_DEVICE"
        case mediumDevice = "MEDIUM_RISK_DEVICE"
        case highDevice = "HIGH_RISK_DEVICE"
        case lowNetwork = "LOW_RISK_NETWORK"
        case mediumNetwork = "MEDIUM_RISK_NETWORK"
        case highNetwork = "HIGH_RISK_NETWORK"
        case unevaluated = "UNEVALUATED"
    }

    /// How usual the user's account is.
    public enum Account: String, Decodable, Sendable, CaseIterable {
        case unusual = "UNUSUAL"
        case unknown = "UNKNOWN"
        case typicalBasic = "TYPICAL_BASIC"
        case typicalStrong = "TYPICAL_STRONG"
        case unevaluated = "UNEVALUATED"
    }

    /// The bits that Google keeps of a device for the developer.
    public enum Bit: String, Decodable, Sendable, CaseIterable {
        case first, second, third
    }

    let activity: [Activity]?
    let accessRisk: [AccessRisk]?
    let playProtect: [Protect]?
    let locationSpoofing: [Location]?
    let accountActivity: [Account]?
    let recall: [Bit]?

    enum CodingKeys: String, CodingKey {
        case activity
        case accessRisk = "access_risk"
        case playProtect = "play_protect"
        case locationSpoofing = "location_spoofing"
        case accountActivity = "account_activity"
        case recall
    }
}

extension PlayRefusedValues: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "activity": PolicyKey(
            "How many tokens the app has got on this device in the last hour: `LEVEL_4` is the most.", .notEmpty,
            examples: [["LEVEL_4"]]),
        "access_risk": PolicyKey(
            "What other apps could do: capture the screen, draw over the app, or control the device.", .notEmpty,
            examples: [["UNKNOWN_CAPTURING", "UNKNOWN_CONTROLLING"]]),
        "play_protect": PolicyKey(
            "What Play Protect has found on the device.", .notEmpty, examples: [["HIGH_RISK"]]),
        "location_spoofing": PolicyKey(
            "How likely the place is false that the device or the network states.", .notEmpty,
            examples: [["HIGH_RISK_DEVICE"]]),
        "account_activity": PolicyKey("How usual the user's account is.", .notEmpty, examples: [["UNUSUAL"]]),
        "recall": PolicyKey(
            "The bits that the developer has set of the device: it is refused if one of them is set.", .notEmpty,
            examples: [["first"]]),
    ]
}
