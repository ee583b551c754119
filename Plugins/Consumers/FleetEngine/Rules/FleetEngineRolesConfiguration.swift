/// The section's `roles`: a rule for each role that is given at all.
public struct FleetEngineRolesConfiguration: Decodable, Sendable {
    public let rules: [FleetEngineRole: FleetEngineRoleConfiguration]

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
