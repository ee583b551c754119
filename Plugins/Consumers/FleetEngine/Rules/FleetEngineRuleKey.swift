internal import AssayKit

/// The keys of a rule.
struct FleetEngineRuleKey: CodingKey, Hashable {
    @Exact private(set) var stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }

    static let account = FleetEngineRuleKey(stringValue: "account")
    static let actor = FleetEngineRuleKey(stringValue: "actor")
    static let callback = FleetEngineRuleKey(stringValue: "callback")
    static let wildcard = FleetEngineRuleKey(stringValue: "wildcard")

    static func ids(_ entity: FleetEngineEntity) -> FleetEngineRuleKey {
        FleetEngineRuleKey(stringValue: entity.rawValue)
    }
}

extension FleetEngineRole {
    /// The kinds of entities that a rule says which IDs of may be asked for; none where it is about a whole fleet.
    var ruledEntities: [FleetEngineEntity] { fleet.isEmpty ? entities : [] }
}
