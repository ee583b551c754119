/// The section's `roles`: a rule for each role that is given at all.
public struct FleetEngineRolesConfiguration: Decodable, Sendable {
    public let rules: [FleetEngineRole: FleetEngineRoleConfiguration]

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var rules: [FleetEngineRole: FleetEngineRoleConfiguration] = [:]
        for role in FleetEngineRole.allCases {
            rules[role] = try container.decodeIfPresent(FleetEngineRoleConfiguration.self, forKey: Key(role))
        }
        self.rules = rules
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(_ role: FleetEngineRole) {
            stringValue = role.rawValue
        }

        init?(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
