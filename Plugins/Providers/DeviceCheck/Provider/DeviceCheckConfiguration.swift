public import AppleServices
public import AssayKit

/// The section `device_check` of a policy.
public struct DeviceCheckConfiguration: Decodable, Sendable {
    /// Which of Apple's servers is asked.
    public enum Environment: String, Decodable, Sendable, CaseIterable {
        case production
        case development
    }

    /// Devices that are refused: those whose bits are all as it says. What it does not name may be either.
    public struct Bits: Decodable, Sendable {
        public let bit0: Bool?
        public let bit1: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case bit0, bit1
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
    public let refuseWhen: Bits?
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
