/// What a token for Google Maps Fleet Engine is for: one trip, vehicle, task, delivery vehicle or shipment.
public struct FleetEngineContext: Sendable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case vehicle, trip, deliveryVehicle, tracking, task
    }

    let kind: Kind
    /// The identifier, as Fleet Engine has it.
    public let id: String

    /// The driver of a vehicle, with on-demand trips.
    public static func vehicle(_ id: String) -> FleetEngineContext { FleetEngineContext(kind: .vehicle, id: id) }
    /// The rider of a trip.
    public static func trip(_ id: String) -> FleetEngineContext { FleetEngineContext(kind: .trip, id: id) }
    /// The driver of a delivery vehicle, with scheduled tasks.
    public static func deliveryVehicle(_ id: String) -> FleetEngineContext {
        FleetEngineContext(kind: .deliveryVehicle, id: id)
    }
    /// The recipient of a shipment, by its tracking identifier.
    public static func tracking(_ id: String) -> FleetEngineContext { FleetEngineContext(kind: .tracking, id: id) }
    /// The recipient of a shipment, by its task.
    public static func task(_ id: String) -> FleetEngineContext { FleetEngineContext(kind: .task, id: id) }

    /// The kind and the identifier.
    public var description: String { "\(kind) \(ShownText.of(id, limit: 64))" }

    func isSame(as other: FleetEngineContext) -> Bool { kind == other.kind && id.sameBytes(as: other.id) }

    /// Whether the identifier can be one: 1 to 64 characters, none of which ends a part of a path.
    var isValid: Bool {
        (1...256).contains(id.utf8.count) && id.unicodeScalars.count <= 64 && !id.sameBytes(as: ".")
            && !id.sameBytes(as: "..")
            && id.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"/:?,#".utf8.contains($0) }
    }

    /// The path of Google's sample backends; nil for a task, which they have none for.
    var path: String? {
        let segment = PathSegment.encode(id)
        return switch kind {
        case .vehicle: "/token/driver/\(segment)"
        case .trip: "/token/consumer/\(segment)"
        case .deliveryVehicle: "/token/delivery_driver/\(segment)"
        case .tracking: "/token/delivery_consumer/\(segment)"
        case .task: nil
        }
    }
}

/// A token for Fleet Engine.
public struct FleetEngineToken: Sendable {
    /// The JWT.
    public let text: String
    /// What it is for.
    public let context: FleetEngineContext
    /// When it ends, at the latest.
    public let expires: Moment
    /// The seconds that were left when it was given out, as Google's libraries for browsers want them.
    public let secondsLeft: Int64
}

extension FleetEngineToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the token itself, so that it gets into no log.
    public var description: String {
        "FleetEngineToken(\(text.utf8.count) bytes for \(context), \(secondsLeft) s left)"
    }
    /// The same.
    public var debugDescription: String { description }
}
