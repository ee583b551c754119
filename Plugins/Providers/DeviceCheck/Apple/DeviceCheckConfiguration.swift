public import AssayAppleServices
public import AssayKit

/// The section `device_check` of a policy.
public struct DeviceCheckConfiguration: Decodable, Sendable {
    /// Which of Apple's servers is asked.
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
    /// Where the `.p8` file of that key is to be found.
    public let privateKey: SecretReference
    /// `production` when absent.
    public let environment: Environment?
    /// What is asked instead of Apple's server for the environment.
    public let baseURL: EndpointURL?
    /// How the token stands in the header `Authorization`; `bearer` when absent.
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
