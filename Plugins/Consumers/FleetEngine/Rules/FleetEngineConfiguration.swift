public import AssayCore
public import AssayKit

/// The section `fleet_engine` of a policy: the rules for issuing tokens, and the service accounts that sign them.
///
///     account: file:/run/secrets/fleet-engine.json
///     callback: {url: https://backend.example.com/fleet-engine, token: "env:FLEET_ENGINE_CALLBACK"}
///     roles:
///       driver: {vehicle: {claim: vehicle_id}}
///       consumer: {callback: true}
///       server: {account: file:/run/secrets/fleet-server.json, actor: {claim: groups, values: [dispatchers]}}
public struct FleetEngineConfiguration: Decodable, Sendable {
    /// The provider's ID at Fleet Engine; the project's ID when absent.
    public let providerID: String?
    /// `aud` of the tokens, and the audience of a token exchange; Google's service when absent.
    public let audience: String?
    /// How long tokens live; an hour when absent.
    public let tokenTTL: Duration?
    /// The key file of the service account that signs for roles without one of their own.
    public let account: SecretReference?
    /// The operator's backend, which is asked where a role says so.
    public let callback: OperatorCallbackConfiguration?
    /// Which tokens `/token/fleet_reader` gives.
    public let fleetReaderRole: ReaderRole?
    /// The roles whose tokens are issued, each with its rule.
    public let roles: FleetEngineRolesConfiguration

    /// The roles of people who watch a fleet.
    public enum ReaderRole: String, Decodable, Sendable, CaseIterable {
        case deliveryFleetReader = "delivery_fleet_reader"
        case fleetReader = "fleet_reader"

        var role: FleetEngineRole {
            switch self {
            case .deliveryFleetReader: .deliveryFleetReader
            case .fleetReader: .fleetReader
            }
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case providerID = "provider_id"
        case audience
        case tokenTTL = "token_ttl"
        case account, callback
        case fleetReaderRole = "fleet_reader_role"
        case roles
    }
}

/// The section's `roles`: a rule for each role that is given at all.
public struct FleetEngineRolesConfiguration: Decodable, Sendable {
    /// The rules, by role.
    public let rules: [FleetEngineRole: FleetEngineRoleConfiguration]

    /// Decodes the rules of the known roles.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FleetEngineRuleKey.self)
        var rules: [FleetEngineRole: FleetEngineRoleConfiguration] = [:]
        for kind in FleetEngineRuleKinds.all { rules[kind.role] = try Self.rule(kind, in: container) }
        self.rules = rules
    }

    private static func rule<Kind: FleetEngineRuleKind>(
        _ kind: Kind.Type, in container: KeyedDecodingContainer<FleetEngineRuleKey>
    ) throws -> FleetEngineRoleConfiguration? {
        let key = FleetEngineRuleKey(stringValue: kind.role.rawValue)
        return try container.decodeIfPresent(FleetEngineRuleSection<Kind>.self, forKey: key)?.rule
    }
}

extension FleetEngineConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "provider_id": PolicyKey(
            "The provider's ID at Fleet Engine; the project's ID when absent.", .pattern("^[A-Za-z0-9.:-]{1,63}$"),
            examples: ["example-project"]),
        "audience": PolicyKey(
            "`aud` of the tokens, and the audience that a token exchange names.", .pattern("^[!-~]{1,2048}$"),
            standard: .string(FleetEngineMinter.standardAudience)),
        "token_ttl": PolicyKey(
            "How long tokens live, counted from their `iat`, which is a minute back, if it is the whole hour.",
            .durations(FleetEngineMinter.lives), standard: "1h"),
        "account": PolicyKey(
            """
            Where the key file (JSON) of the service account is to be found that signs for roles without one of their \
            own: `file:PATH` or `env:NAME`.
            """, examples: ["file:/run/secrets/fleet-engine.json"]),
        "callback": "Your backend, which is asked for the roles that have `callback: true`.",
        "fleet_reader_role": PolicyKey(
            "The role of the tokens of `/token/fleet_reader`.", standard: "delivery_fleet_reader"),
        "roles": "The roles whose tokens are issued, each with its rule. Tokens of other roles are not issued.",
    ]
}

extension FleetEngineRolesConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "server": "On-demand trips: a backend, for every trip and vehicle.",
        "driver": "On-demand trips: the app of a driver, for its vehicle.",
        "consumer": "On-demand trips: the app of a rider, for a trip.",
        "delivery_server": "Scheduled tasks: a backend, for everything, or for the tasks of a batch.",
        "delivery_consumer": "Scheduled tasks: the recipient of a shipment, for its tracking ID or its task.",
        "untrusted_delivery_driver": "Scheduled tasks: a driver's own phone, which may report where its vehicle is.",
        "trusted_delivery_driver": "Scheduled tasks: a phone that you manage, which may change its vehicle and tasks.",
        "delivery_fleet_reader": "Scheduled tasks: a person who watches the whole fleet.",
        "fleet_reader": "A person who watches the whole fleet, trips and tasks.",
        "custom": "Any IDs that the rule allows, of several kinds at once.",
    ]
}

extension FleetEngineRoleConfiguration.IDs: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "claim": PolicyKey(
            "The claim of the user's JWT that holds the IDs, one or a list, by its path with dots.", .length(1...256),
            examples: ["vehicle_id"]),
        "any": "Any ID: `true`, if the rule has `actor` or `callback`.",
    ]
    /// Groups of keys of which exactly one must be present.
    public static let alternatives = [["claim", "any"]]
}

extension FleetEngineRoleConfiguration.Actor: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "claim": PolicyKey("The claim, by its path with dots.", .length(1...256), examples: ["groups"]),
        "values": PolicyKey(
            "The claim must be or contain one of these values.", .notEmpty, examples: [["dispatchers"]]),
    ]
}
