/// What a token is for: the ten kinds that Google's auth library for Fleet Engine knows, `FleetEngineTokenType`.
///
/// Which methods a token's bearer may call is bound by the role of the service account that signs it, in Google Cloud;
/// which entities it may call them on, by the token's claims.
public enum FleetEngineRole: String, Sendable, Hashable, CaseIterable {
    /// On-demand trips: a backend, for every trip and vehicle.
    case server
    /// On-demand trips: the app of a driver, for its vehicle.
    case driver
    /// On-demand trips: the app of a rider, for a trip.
    case consumer
    /// Scheduled tasks: a backend, for everything.
    case deliveryServer = "delivery_server"
    /// Scheduled tasks: the recipient of a shipment, for its tracking ID or its task.
    case deliveryConsumer = "delivery_consumer"
    /// Scheduled tasks: a driver's own phone, which may report where its vehicle is.
    case untrustedDeliveryDriver = "untrusted_delivery_driver"
    /// Scheduled tasks: a phone that the operator manages, which may change its vehicle and tasks.
    case trustedDeliveryDriver = "trusted_delivery_driver"
    /// Scheduled tasks: a person who watches the whole fleet.
    case deliveryFleetReader = "delivery_fleet_reader"
    /// A person who watches the whole fleet, trips and tasks.
    case fleetReader = "fleet_reader"
    /// Any claims that a policy allows.
    case custom

    /// The kinds of entities that its tokens cover completely, without an ID.
    ///
    /// Empty for roles with IDs.
    public var fleet: [FleetEngineEntity] {
        switch self {
        case .server: [.vehicle, .trip]
        case .deliveryServer, .deliveryFleetReader: [.deliveryVehicle, .task, .tracking]
        case .fleetReader: FleetEngineEntity.allCases
        case .driver, .consumer, .deliveryConsumer, .untrustedDeliveryDriver, .trustedDeliveryDriver, .custom: []
        }
    }

    /// The kinds of entities that a request may name IDs of.
    public var entities: [FleetEngineEntity] {
        switch self {
        case .server, .deliveryFleetReader, .fleetReader: []
        case .driver: [.vehicle]
        case .consumer: [.trip]
        // A server that creates tasks names those of the batch.
        case .deliveryServer: [.task]
        case .deliveryConsumer: [.task, .tracking]
        case .untrustedDeliveryDriver: [.deliveryVehicle]
        case .trustedDeliveryDriver: [.deliveryVehicle, .task]
        case .custom: FleetEngineEntity.allCases
        }
    }
}

/// The kinds of things that Fleet Engine keeps, and that tokens are about.
public enum FleetEngineEntity: String, Sendable, Hashable, CaseIterable {
    case vehicle
    case trip
    case deliveryVehicle = "delivery_vehicle"
    case task
    case tracking

    /// The private claim that holds one ID.
    public var claim: String {
        switch self {
        case .vehicle: "vehicleid"
        case .trip: "tripid"
        case .deliveryVehicle: "deliveryvehicleid"
        case .task: "taskid"
        case .tracking: "trackingid"
        }
    }

    /// The collection in names of resources: `providers/PROVIDER/vehicles/ID`.
    public var collection: String {
        switch self {
        case .vehicle: "vehicles"
        case .trip: "trips"
        case .deliveryVehicle: "deliveryVehicles"
        case .task: "tasks"
        case .tracking: "taskTrackingInfo"
        }
    }
}
