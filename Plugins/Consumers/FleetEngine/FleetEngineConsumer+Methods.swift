public import AssayKit

extension FleetEngineConsumer {
    public static let methods: [ConsumerMethod<FleetEngineConsumer>] = [
        .exchange { consumer, request, context in
            try await consumer.exchanged(request, context)
        },
        door("fleetEngineDriverToken", "/token/driver/{vehicleId}") {
            (consumer, request: DriverTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.driver, [.vehicle: [request.id]])
        },
        door("fleetEngineConsumerToken", "/token/consumer/{tripId}") {
            (consumer, request: ConsumerTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.consumer, [.trip: [request.id]])
        },
        door("fleetEngineServerToken", "/token/server") {
            (consumer, request: FleetTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.server)
        },
        door("fleetEngineDeliveryDriverToken", "/token/delivery_driver/{deliveryVehicleId}") {
            (consumer, request: DeliveryDriverTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.untrustedDeliveryDriver, [.deliveryVehicle: [request.id]])
        },
        door("fleetEngineDeliveryConsumerToken", "/token/delivery_consumer/{trackingId}") {
            (consumer, request: DeliveryConsumerTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.deliveryConsumer, [.tracking: [request.id]])
        },
        door("fleetEngineReaderToken", "/token/fleet_reader") {
            (consumer, request: FleetTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(consumer.readerRole)
        },
    ]

    /// A path that sample apps of Google's call.
    private static func door<Request: RequestMessage>(
        _ name: String, _ path: String,
        claims: @escaping @Sendable (FleetEngineConsumer, Request) throws(InvalidFleetEngineClaims) -> FleetEngineClaims
    ) -> ConsumerMethod<FleetEngineConsumer> {
        .redeem(
            name, [HTTPRule(.get, path, version: .v1)], selection: .tokenProject, reply: FleetEngineReply.shape
        ) { (consumer: FleetEngineConsumer, request: Request, context) -> ConsumerVerdict in
            switch try await consumer.token(try claims(consumer, request), context) {
            case .granted(let token, let facts):
                return .granted(ConsumerReply(FleetEngineReply.message(token, at: context.now), facts: facts))
            case .refused(let reason, let detail): return .refused(reason, detail: detail)
            }
        }
    }

    private func exchanged(
        _ request: TokenExchangeRequest, _ context: ConsumerContext
    ) async throws -> ExchangeVerdict {
        let claims = try exchange.claims(request)
        switch try await token(claims, context) {
        case .granted(let token, let facts):
            return .granted(
                ExchangedToken(
                    token.text, type: request.requestedType ?? .jwt, lifetime: token.expires - context.now,
                    // The role may have been said by the resource (RFC 6749, section 5.1).
                    fields: [ReplyField("scope", .string(claims.role.rawValue))], facts: facts))
        case .refused(let reason, let detail): return .refused(reason, detail: detail)
        }
    }
}
