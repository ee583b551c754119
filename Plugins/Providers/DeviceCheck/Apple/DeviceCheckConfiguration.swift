public import AssayApple
public import AssayCore

/// The section `device_check` of a policy.
public struct DeviceCheckConfiguration: Decodable, Sendable {
    /// Apple's server for the questions.
    public enum Environment: String, Decodable, Sendable, CaseIterable {
        case production
        case development

        var server: String {
            switch self {
            case .production: "https://api.devicecheck.apple.com"
            case .development: "https://api.development.devicecheck.apple.com"
            }
        }
    }

    /// The identifier of the team's key for DeviceCheck: ten characters.
    public let keyID: String
    /// Where the `.p8` file of that key is.
    public let privateKey: SecretReference
    /// That of the project's stage when absent.
    public let environment: Environment?
    /// The URL that is called instead of Apple's server for the environment.
    public let baseURL: EndpointURL?
    /// The form of the header `Authorization`; `bearer` when absent.
    public let authorization: AppleAuthorizationForm?
    /// Which devices are refused for their bits; none when absent.
    public let refuseWhen: DeviceBitsRule?
    /// Whether a device token may be exchanged more than once; it may not when absent.
    public let allowReuse: Bool?
    /// How long exchanged tokens are remembered; a day when absent.
    public let rememberFor: Duration?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case keyID = "key_id"
        case privateKey = "private_key"
        case environment
        case baseURL = "base_url"
        case authorization
        case refuseWhen = "refuse_when"
        case allowReuse = "allow_reuse"
        case rememberFor = "remember_for"
    }
}

extension DeviceCheckConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "key_id": PolicyKey(
            "The identifier of the team's key for DeviceCheck: ten upper-case letters and digits.",
            .pattern("^[A-Z0-9]{10}$"), examples: ["ABC123DEFG"]),
        "private_key": "The location of the `.p8` file of that key: `file:PATH` or `env:NAME`.",
        "environment": PolicyKey(
            "Apple's server for the questions; that of the project's `stage` when absent.", standard: "production",
            development: .words(["development"])),
        "base_url": "The URL that is called instead of Apple's server for the environment.",
        "authorization": PolicyKey(
            "The form of the token in the header `Authorization`: alone, or after `Bearer`.", standard: "bearer"),
        "refuse_when": "The devices that are refused for their two bits; none when absent.",
        "allow_reuse": PolicyKey("Whether a device token may be exchanged more than once.", standard: false),
        "remember_for": PolicyKey(
            "How long exchanged tokens are remembered, so that each is exchanged once; a day when absent.",
            .durations(DeviceTokenRules.memories), examples: ["1d"]),
    ]
}
