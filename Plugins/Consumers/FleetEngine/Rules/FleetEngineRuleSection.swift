internal import AssayCore

/// A role as a type, so that the section of each role has only the keys that apply to it.
protocol FleetEngineRuleKind {
    static var role: FleetEngineRole { get }
}

/// The roles.
enum FleetEngineRuleKinds {
    enum Server: FleetEngineRuleKind { static let role = FleetEngineRole.server }
    enum Driver: FleetEngineRuleKind { static let role = FleetEngineRole.driver }
    enum Consumer: FleetEngineRuleKind { static let role = FleetEngineRole.consumer }
    enum DeliveryServer: FleetEngineRuleKind { static let role = FleetEngineRole.deliveryServer }
    enum DeliveryConsumer: FleetEngineRuleKind { static let role = FleetEngineRole.deliveryConsumer }
    enum UntrustedDeliveryDriver: FleetEngineRuleKind { static let role = FleetEngineRole.untrustedDeliveryDriver }
    enum TrustedDeliveryDriver: FleetEngineRuleKind { static let role = FleetEngineRole.trustedDeliveryDriver }
    enum DeliveryFleetReader: FleetEngineRuleKind { static let role = FleetEngineRole.deliveryFleetReader }
    enum FleetReader: FleetEngineRuleKind { static let role = FleetEngineRole.fleetReader }
    enum Custom: FleetEngineRuleKind { static let role = FleetEngineRole.custom }

    static var all: [any FleetEngineRuleKind.Type] {
        [
            Server.self, Driver.self, Consumer.self, DeliveryServer.self, DeliveryConsumer.self,
            UntrustedDeliveryDriver.self, TrustedDeliveryDriver.self, DeliveryFleetReader.self, FleetReader.self,
            Custom.self,
        ]
    }
}

/// The section of one role.
struct FleetEngineRuleSection<Kind: FleetEngineRuleKind>: Decodable {
    let rule: FleetEngineRoleConfiguration

    init(from decoder: any Decoder) throws {
        rule = try FleetEngineRoleConfiguration(Kind.role, from: decoder)
    }
}

extension FleetEngineRuleSection: DescribedConfiguration {
    static var keys: [ExactText: PolicyKey] {
        [
            "account":
                "The location of the key file (JSON) of the service account that signs; the section's when absent.",
            "vehicle": "The vehicles that may be requested.",
            "trip": "The trips that may be requested.",
            "delivery_vehicle": "The delivery vehicles that may be requested.",
            "task": "The tasks that may be requested.",
            "tracking": "The tracking IDs that may be requested.",
            "actor": "The claims that the user's JWT must have for any request.",
            "callback": PolicyKey("Whether the section's callback must allow the request.", standard: false),
            "wildcard": PolicyKey(
                "Whether `*` may be requested instead of an ID, if the rest of the rule allows it.",
                standard: false),
        ]
    }
}
