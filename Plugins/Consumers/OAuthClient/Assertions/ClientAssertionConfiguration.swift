public import AssayKit

/// The part `client_assertion`: what is demanded of App Check tokens that stand as client assertions in requests to an
/// authorization server, as in ``TokenDemandConfiguration``, and of which clients more or less than of others.
public struct ClientAssertionConfiguration: Decodable, Sendable {
    public let demand: TokenDemandConfiguration
    /// The enforcement for single clients, by their identifiers.
    public let clients: [String: EnforcementMode]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case clients
    }

    public init(from decoder: any Decoder) throws {
        demand = try TokenDemandConfiguration(from: decoder)
        clients = try decoder.container(keyedBy: CodingKeys.self)
            .decodeIfPresent([String: EnforcementMode].self, forKey: .clients)
    }
}

extension ClientAssertionConfiguration: DescribedConfiguration {
    public static var keys: [String: PolicyKey] {
        var keys = TokenDemandConfiguration.keys
        keys["limited_use"] = PolicyKey(
            "Whether only limited-use tokens are taken, as Google Sign-In sends them.", standard: true)
        keys["replay_protection"] = PolicyKey(
            "Always ENFORCED: an assertion stands in URLs, and is good for one use.", standard: "ENFORCED")
        keys["clients"] = PolicyKey(
            "The enforcement for single OAuth clients, by their client IDs.",
            examples: [["1234567890-abc.apps.example.com": "UNENFORCED"]])
        return keys
    }
}
