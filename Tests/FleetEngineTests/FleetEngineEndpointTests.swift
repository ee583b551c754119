import AssayCore
import AssayKit
import AssayTesting
import Testing

@testable import AssayFleetEngine

private let guarded = "actor: {claim: sub, values: [u]}"
private let roles = """
    roles:
      driver: {vehicle: {claim: id}}
      consumer: {trip: {claim: id}}
      server: {\(guarded)}
      delivery_consumer: {tracking: {claim: id}}
      untrusted_delivery_driver: {delivery_vehicle: {claim: id}}
      delivery_fleet_reader: {\(guarded)}
      fleet_reader: {\(guarded)}
    """

/// The methods, their paths, the field of the ID, and the claims.
private let endpoints: [(String, String, String?, JSON)] = [
    ("fleetEngineDriverToken", "/token/driver/{vehicleId}", "vehicleId", ["vehicleid": "i"]),
    ("fleetEngineConsumerToken", "/token/consumer/{tripId}", "tripId", ["tripid": "i"]),
    ("fleetEngineServerToken", "/token/server", nil, ["vehicleid": "*", "tripid": "*"]),
    (
        "fleetEngineDeliveryDriverToken", "/token/delivery_driver/{deliveryVehicleId}", "deliveryVehicleId",
        ["deliveryvehicleid": "i"]
    ),
    (
        "fleetEngineDeliveryConsumerToken", "/token/delivery_consumer/{trackingId}", "trackingId",
        ["trackingid": "i"]
    ),
    (
        "fleetEngineReaderToken", "/token/fleet_reader", nil,
        ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
    ),
]

@Suite("The paths of Fleet Engine's sample apps")
struct FleetEngineEndpointTests {
    @Test("Each gives the token of its role", arguments: endpoints)
    func endpoint(_ name: String, _ path: String, _ field: String?, _ expected: JSON) async throws {
        let scene = try FleetEngineScene(roles)
        let method = try #require(FleetEngineConsumer.methods.first { $0.descriptor?.name == name })
        #expect(method.descriptor?.rules.map { "\($0)" } == ["GET \(path)"])
        #expect(method.descriptor?.takesToken == true)
        #expect(method.selection == .tokenProject)
        let fields: JSON = field.map { .object([JSONMember($0, "i")]) } ?? [:]
        let message = try reply(try await scene.open(name, fields, by: ["id": "i", "sub": "u"]))
        let claims = try TestAccounts.standard.get().verified(try #require(message["jwt"]?.string)).claims
        #expect(claims["authorization"]?.members.map { Set($0) } == expected.members.map { Set($0) })
    }

    @Test("One reply is read by all sample apps: of on-demand trips, of scheduled tasks, and in browsers")
    func shape() async throws {
        let scene = try FleetEngineScene(roles)
        scene.clock.advance(by: .milliseconds(250))
        let now = scene.clock.now
        let first = try reply(try await scene.open("fleetEngineServerToken", by: ["sub": "u"]))
        let claims = try TestAccounts.standard.get().verified(try #require(first["jwt"]?.string)).claims
        #expect(first["token"] == first["jwt"])
        let expires = try #require(claims["exp"]?.integer) * 1000
        let created = now.seconds * 1000
        #expect(first["creationTimestamp"] == .integer(created))
        #expect(first["creation_timestamp_ms"] == .integer(created))
        #expect(first["expirationTimestamp"] == .integer(expires))
        #expect(first["expiration_timestamp_ms"] == .integer(expires))
        #expect(first["expires_in"] == 3539)
        #expect(first["expires_at"] == .integer(expires / 1000))
        #expect(first["expiresInSeconds"] == 3539)
        #expect(first.members?.count == FleetEngineReply.shape.fields.count)
        // The same token later: its times stay, and what is left is less.
        scene.clock.advance(by: .seconds(1000))
        let second = try reply(try await scene.open("fleetEngineServerToken", by: ["sub": "u"]))
        #expect(second["jwt"] == first["jwt"])
        #expect(second["creationTimestamp"] == first["creationTimestamp"])
        #expect(second["expiresInSeconds"] == 2539)
    }

    @Test("An app that asks whenever it likes never gets less than five minutes")
    func lifetime() async throws {
        let scene = try FleetEngineScene("token_ttl: 10m\n\(roles)")
        for _ in 0..<200 {
            let message = try reply(try await scene.open("fleetEngineServerToken", by: ["sub": "u"]))
            #expect(try #require(message["expires_in"]?.integer) >= 300)
            scene.clock.advance(by: .milliseconds(7_919))
        }
    }

    @Test("IDs that are none are the client's mistake", arguments: ["", "a/b", "a:b", "e\u{301}", "a\n"])
    func malformed(_ id: String) async throws {
        let scene = try FleetEngineScene(roles)
        await #expect(throws: InvalidRequest.self) {
            try await scene.open("fleetEngineDriverToken", ["vehicleId": .string(id)], by: ["id": .string(id)])
        }
    }

    @Test("Another's vehicle, and all vehicles, are refused")
    func refused() async throws {
        let scene = try FleetEngineScene(roles)
        #expect(
            reason(try await scene.open("fleetEngineDriverToken", ["vehicleId": "j"], by: ["id": "i"]))
                == FleetEngineReasons.id)
        #expect(
            reason(try await scene.open("fleetEngineDriverToken", ["vehicleId": "*"], by: ["id": "*"]))
                == FleetEngineReasons.wildcard)
        #expect(reason(try await scene.open("fleetEngineReaderToken", by: ["id": "i"])) == FleetEngineReasons.actor)
    }

    @Test("The policy says which readers' tokens the path for readers gives")
    func reader() async throws {
        let scene = try FleetEngineScene("fleet_reader_role: fleet_reader\n\(roles)")
        let message = try reply(try await scene.open("fleetEngineReaderToken", by: ["sub": "u"]))
        let claims = try TestAccounts.standard.get().verified(try #require(message["jwt"]?.string)).claims
        #expect(claims["authorization"]?.members?.count == 5)
    }

    private func reply(_ verdict: ConsumerVerdict) throws -> JSON {
        switch verdict {
        case .granted(let reply): reply.message
        case .refused(let reason, let detail, _): throw InvalidRequest("refused: \(reason) \(detail ?? "")")
        }
    }

    private func reason(_ verdict: ConsumerVerdict) -> Reason? {
        if case .refused(let reason, _, _) = verdict { reason } else { nil }
    }
}
