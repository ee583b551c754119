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
