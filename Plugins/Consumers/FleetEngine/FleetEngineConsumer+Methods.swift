internal import AssayCore
public import AssayKit

extension FleetEngineConsumer {
    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ConsumerMethod<FleetEngineConsumer>] = [
        .exchange { consumer, request, context in
            try await consumer.exchanged(request, context)
        },
        endpoint("fleetEngineDriverToken", "/token/driver/{vehicleId}") {
            (consumer, request: DriverTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.driver, [.vehicle: [request.id]])
        },
        endpoint("fleetEngineConsumerToken", "/token/consumer/{tripId}") {
            (consumer, request: ConsumerTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.consumer, [.trip: [request.id]])
        },
        endpoint("fleetEngineServerToken", "/token/server") {
            (consumer, request: FleetTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.server)
        },
        endpoint("fleetEngineDeliveryDriverToken", "/token/delivery_driver/{deliveryVehicleId}") {
            (consumer, request: DeliveryDriverTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.untrustedDeliveryDriver, [.deliveryVehicle: [request.id]])
        },
        endpoint("fleetEngineDeliveryConsumerToken", "/token/delivery_consumer/{trackingId}") {
            (consumer, request: DeliveryConsumerTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(.deliveryConsumer, [.tracking: [request.id]])
        },
        endpoint("fleetEngineReaderToken", "/token/fleet_reader") {
            (consumer, request: FleetTokenRequest) throws(InvalidFleetEngineClaims) in
            try FleetEngineClaims(consumer.readerRole)
        },
    ]

    /// An endpoint that Google's sample apps call.
    private static func endpoint<Request: RequestMessage>(
        _ name: String, _ path: String,
        claims: @escaping @Sendable (FleetEngineConsumer, Request) throws(InvalidFleetEngineClaims) -> FleetEngineClaims
    ) -> ConsumerMethod<FleetEngineConsumer> {
        .redeem(
            name, [HTTPRule(.get, path, version: .v1)], selection: .tokenProject, reply: FleetEngineReply.shape
        ) { (consumer: FleetEngineConsumer, request: Request) in
            PreparedRequest { context in
                switch try await consumer.token(try claims(consumer, request), context) {
                case .granted(let token, let facts):
                    .granted(ConsumerReply(FleetEngineReply.message(token, at: context.now), facts: facts))
                case .refused(let reason, let detail): .refused(reason, detail: detail)
                }
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
