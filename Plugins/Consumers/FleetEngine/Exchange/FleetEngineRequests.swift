internal import AssayCore

/// What the sample apps of on-demand trips ask for as drivers.
struct DriverTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("vehicleId", .text)]

    let id: FleetEngineID

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.fleetEngineID("vehicleId")
    }
}

/// The request of a rider's app.
struct ConsumerTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("tripId", .text)]

    let id: FleetEngineID

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.fleetEngineID("tripId")
    }
}

/// What the sample apps of scheduled tasks ask for as drivers.
struct DeliveryDriverTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("deliveryVehicleId", .text)]

    let id: FleetEngineID

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.fleetEngineID("deliveryVehicleId")
    }
}

/// The request of a shipment recipient's app.
struct DeliveryConsumerTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("trackingId", .text)]

    let id: FleetEngineID

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.fleetEngineID("trackingId")
    }
}

/// A request for a token of a whole fleet.
struct FleetTokenRequest: RequestMessage {
    static let shape: MessageShape? = []

    init(_ fields: RequestFields) throws(InvalidRequest) {}
}

extension RequestFields {
    fileprivate func fleetEngineID(_ name: String) throws(InvalidRequest) -> FleetEngineID {
        guard let id = FleetEngineID(try string(name)) else {
            throw InvalidRequest("the field '\(name)' must be 1 to 64 characters in NFC, none of them one of / : ? , #")
        }
        return id
    }
}
