public import AssayCore

/// The rule for the tokens of one role.
///
/// Everything that it says must hold.
///
///     vehicle: {claim: vehicle_id}                 # the IDs that the user's JWT has there
///     actor: {claim: groups, values: [drivers]}    # what the user's JWT must say
///     callback: true                               # and the operator's backend must say yes
public struct FleetEngineRoleConfiguration: Sendable {
    /// The key file of the service account that signs; the section's when absent.
    public let account: SecretReference?
    /// The IDs that may be requested, for the kinds of entities that the role allows.
    public let ids: [FleetEngineEntity: IDs]
    /// The claims that the user's JWT must have for any request.
    public let actor: Actor?
    /// Whether the section's callback must allow the request.
    public let callback: Bool?
    /// Whether `*` may be asked for in the place of an ID.
    public let wildcard: Bool?

    /// Which IDs of one kind may be asked for.
    public struct IDs: Decodable, Sendable {
        /// The claim of the user's JWT that holds them, one or a list, by its path with dots.
        public let claim: String?
        /// Whether it may be any ID.
        public let any: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case claim, any
        }
    }

    /// A claim of the user's JWT, and its required value.
    public struct Actor: Decodable, Sendable {
        /// Its path with dots.
        public let claim: String
        /// The claim must be or contain one of these values.
        public let values: [String]

        enum CodingKeys: String, CodingKey, CaseIterable {
            case claim, values
        }
    }

    /// Reads the keys that a role has, and no others.
    init(_ role: FleetEngineRole, from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FleetEngineRuleKey.self)
        account = try container.decodeIfPresent(SecretReference.self, forKey: .account)
        var ids: [FleetEngineEntity: IDs] = [:]
        for entity in role.ruledEntities {
            ids[entity] = try container.decodeIfPresent(IDs.self, forKey: .ids(entity))
        }
        self.ids = ids
        actor = try container.decodeIfPresent(Actor.self, forKey: .actor)
        callback = try container.decodeIfPresent(Bool.self, forKey: .callback)
        wildcard = role.fleet.isEmpty ? try container.decodeIfPresent(Bool.self, forKey: .wildcard) : nil
    }
}
