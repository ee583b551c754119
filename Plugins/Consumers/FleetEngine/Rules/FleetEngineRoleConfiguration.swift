public import AssayKit

/// A rule: who gets the tokens of one role. Everything that it says must hold.
///
///     vehicle: {claim: vehicle_id}                 # the IDs that the user's JWT has there
///     actor: {claim: groups, values: [drivers]}    # what the user's JWT must say
///     callback: true                               # and the operator's backend must say yes
public struct FleetEngineRoleConfiguration: Decodable, Sendable {
    /// The key file of the service account that signs; the section's when absent.
    public let account: SecretReference?
    public let vehicle: IDs?
    public let trip: IDs?
    public let deliveryVehicle: IDs?
    public let task: IDs?
    public let tracking: IDs?
    /// What the user's JWT must say, whatever is asked for.
    public let actor: Actor?
    /// Whether the section's callback must say yes.
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

    /// A claim of the user's JWT, and what it must have.
    public struct Actor: Decodable, Sendable {
        /// Its path with dots.
        public let claim: String
        /// Of these, it must be or hold one.
        public let values: [String]

        enum CodingKeys: String, CodingKey, CaseIterable {
            case claim, values
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case account, vehicle, trip
        case deliveryVehicle = "delivery_vehicle"
        case task, tracking, actor, callback, wildcard
    }

    func ids(_ entity: FleetEngineEntity) -> IDs? {
        switch entity {
        case .vehicle: vehicle
        case .trip: trip
        case .deliveryVehicle: deliveryVehicle
        case .task: task
        case .tracking: tracking
        }
    }
}
