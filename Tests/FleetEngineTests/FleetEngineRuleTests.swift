import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@testable import AssayFleetEngine

/// A rule for each role; whom it is for; what is asked for; what comes of it.
private struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let role: FleetEngineRole
    let ids: [FleetEngineEntity: [String]]
    let user: JSON?
    let reason: Reason?

    init(
        _ rule: String, _ role: FleetEngineRole, _ ids: [FleetEngineEntity: [String]] = [:], by user: JSON?,
        _ reason: Reason? = nil
    ) {
        self.rule = rule
        self.role = role
        self.ids = ids
        self.user = user
        self.reason = reason
    }

    var testDescription: String { "\(role) \(ids) by \(user.map { "\($0)" } ?? "nobody") under \(rule)" }
}

private let vehicle = "driver: {vehicle: {claim: van}}"
private let dispatch = "actor: {claim: groups, values: [dispatch, depot]}"

private let cases = [
    // One ID, or one of a list, wherever it stands.
    Case(vehicle, .driver, [.vehicle: ["v"]], by: ["van": "v"]),
    Case(vehicle, .driver, [.vehicle: ["v"]], by: ["van": ["u", "v"]]),
    Case("driver: {vehicle: {claim: work.vans}}", .driver, [.vehicle: ["v"]], by: ["work": ["vans": ["v"]]]),
    Case(vehicle, .driver, [.vehicle: ["w"]], by: ["van": "v"], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["v"]], by: ["van": "V"], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["v"]], by: ["van": ""], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["v"]], by: ["van": ["vv", "v "]], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["1"]], by: ["van": 1], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["v"]], by: [:], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["v"]], by: nil, FleetEngineReasons.actorMissing),
    Case(vehicle, .consumer, [.trip: ["t"]], by: ["van": "t"], FleetEngineReasons.role),
    Case(vehicle, .server, by: ["van": "v"], FleetEngineReasons.role),
    // A star in somebody's claim is no key to all, and neither is it one where the rule does not say so.
    Case(vehicle, .driver, [.vehicle: ["v"]], by: ["van": "*"], FleetEngineReasons.id),
    Case(vehicle, .driver, [.vehicle: ["*"]], by: ["van": "*"], FleetEngineReasons.wildcard),
    Case("driver: {vehicle: {claim: van}, wildcard: true}", .driver, [.vehicle: ["*"]], by: ["van": "*"]),
    Case(
        "driver: {vehicle: {claim: van}, wildcard: true}", .driver, [.vehicle: ["*"]], by: ["van": "v"],
        FleetEngineReasons.id),
    Case(
        "driver: {vehicle: {any: true}, \(dispatch)}", .driver, [.vehicle: ["*"]], by: ["groups": "depot"],
        FleetEngineReasons.wildcard),
    Case("driver: {vehicle: {any: true}, \(dispatch)}", .driver, [.vehicle: ["v"]], by: ["groups": ["x", "depot"]]),
    Case(
        "driver: {vehicle: {any: true}, \(dispatch)}", .driver, [.vehicle: ["v"]], by: ["groups": "drivers"],
        FleetEngineReasons.actor),
    Case(
        "driver: {vehicle: {claim: van}, \(dispatch)}", .driver, [.vehicle: ["v"]], by: ["van": "v"],
        FleetEngineReasons.actor),
    Case(
        "driver: {vehicle: {claim: van}, \(dispatch)}", .driver, [.vehicle: ["w"]], by: ["groups": "depot"],
        FleetEngineReasons.id),
    Case("consumer: {trip: {claim: trips}}", .consumer, [.trip: ["t"]], by: ["trips": ["s", "t"]]),
    Case("consumer: {trip: {claim: trips}}", .consumer, [.trip: ["x"]], by: ["trips": ["t"]], FleetEngineReasons.id),
    // Whole fleets.
    Case("server: {\(dispatch)}", .server, by: ["groups": ["dispatch"]]),
    Case("server: {\(dispatch)}", .server, by: ["groups": "riders"], FleetEngineReasons.actor),
    Case("server: {\(dispatch)}", .server, by: nil, FleetEngineReasons.actorMissing),
    Case("delivery_server: {\(dispatch)}", .deliveryServer, by: ["groups": "depot"]),
    Case("delivery_server: {\(dispatch)}", .deliveryServer, [.task: ["a", "b"]], by: ["groups": "depot"]),
    Case(
        "delivery_server: {\(dispatch)}", .deliveryServer, [.task: ["a"]], by: ["groups": "x"],
        FleetEngineReasons.actor),
    Case("delivery_fleet_reader: {\(dispatch)}", .deliveryFleetReader, by: ["groups": "depot"]),
    Case("delivery_fleet_reader: {\(dispatch)}", .fleetReader, by: ["groups": "depot"], FleetEngineReasons.role),
    Case("fleet_reader: {\(dispatch)}", .fleetReader, by: ["groups": "depot"]),
    // Scheduled tasks.
    Case(
        "delivery_consumer: {tracking: {claim: parcels}}", .deliveryConsumer, [.tracking: ["x"]],
        by: ["parcels": ["x"]]),
    Case(
        "delivery_consumer: {tracking: {claim: parcels}}", .deliveryConsumer, [.task: ["x"]], by: ["parcels": ["x"]],
        FleetEngineReasons.id),
    Case(
        "untrusted_delivery_driver: {delivery_vehicle: {claim: van}}", .untrustedDeliveryDriver,
        [.deliveryVehicle: ["d"]], by: ["van": "d"]),
    Case(
        "untrusted_delivery_driver: {delivery_vehicle: {claim: van}}", .trustedDeliveryDriver,
        [.deliveryVehicle: ["d"]], by: ["van": "d"], FleetEngineReasons.role),
    Case(
        "trusted_delivery_driver: {delivery_vehicle: {claim: van}, task: {claim: tasks}}", .trustedDeliveryDriver,
        [.deliveryVehicle: ["d"], .task: ["a"]], by: ["van": "d", "tasks": ["a"]]),
    Case(
        "trusted_delivery_driver: {delivery_vehicle: {claim: van}, task: {claim: tasks}}", .trustedDeliveryDriver,
        [.deliveryVehicle: ["d"], .task: ["b"]], by: ["van": "d", "tasks": ["a"]], FleetEngineReasons.id),
    Case(
        "trusted_delivery_driver: {delivery_vehicle: {claim: van}, task: {claim: tasks}}", .trustedDeliveryDriver,
        [.task: ["a", "c"]], by: ["tasks": ["a", "b"]], FleetEngineReasons.id),
    Case(
        "custom: {vehicle: {claim: van}, trip: {claim: trips}}", .custom, [.vehicle: ["v"], .trip: ["t"]],
        by: ["van": "v", "trips": ["t"]]),
    Case(
        "custom: {vehicle: {claim: van}, trip: {claim: trips}}", .custom, [.vehicle: ["v"], .trip: ["u"]],
        by: ["van": "v", "trips": ["t"]], FleetEngineReasons.id),
    Case(
        "custom: {vehicle: {claim: van}}", .custom, [.tracking: ["v"]], by: ["van": "v"], FleetEngineReasons.id),
]

@Suite("Rules of Fleet Engine's roles")
struct FleetEngineRuleTests {
    @Test("A token is given to whom the rule of its role names, and to nobody else", arguments: cases)
    private func rules(_ given: Case) async throws {
        let scene = try FleetEngineScene("roles: {\(given.rule)}")
        let outcome = try await scene.token(given.role, given.ids, by: given.user)
        #expect(outcome.reason == given.reason)
        #expect((outcome.token == nil) == (given.reason != nil))
        #expect(scene.http.requests.isEmpty)
    }

    @Test("What was given to one is not given to another, although it is kept")
    func kept() async throws {
        let scene = try FleetEngineScene("roles: {\(vehicle)}")
        let first = try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "v"])
        #expect(first.token != nil)
        #expect(try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "w"]).reason == FleetEngineReasons.id)
        #expect(try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "v"]).token == first.token)
        #expect(scene.counts["tokens_total driver minted"] == 1)
        #expect(scene.counts["tokens_total driver reused"] == 1)
    }

    @Test("The record has the role and the IDs, and not the token")
    func facts() async throws {
        let scene = try FleetEngineScene("roles: {\(vehicle)}")
        let outcome = try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "v"])
        #expect(
            outcome.facts == [Fact(.fleetEngineRole, .text("driver")), Fact(.fleetEngineIDs, .text("vehicleid:v"))])
        let server = try FleetEngineScene("roles: {server: {\(dispatch)}}")
        #expect(
            try await server.token(.server, by: ["groups": "depot"]).facts
                == [Fact(.fleetEngineRole, .text("server")), Fact(.fleetEngineIDs, .text("*"))])
    }

    @Test("Each role is signed for by its own account, or by the section's")
    func accounts() async throws {
        let scene = try FleetEngineScene("roles: {\(vehicle), server: {\(dispatch), account: \"env:SERVER\"}}")
        let user: JSON = ["van": "v", "groups": "dispatch"]
        let driver = try #require(try await scene.token(.driver, [.vehicle: ["v"]], by: user).token)
        let server = try #require(try await scene.token(.server, by: user).token)
        let (standard, other) = (try TestAccounts.standard.get(), try TestAccounts.other.get())
        #expect(try standard.verified(driver.text).claims["iss"] == .string(standard.email))
        #expect(try other.verified(server.text).claims["iss"] == .string(other.email))
        #expect(throws: (any Error).self) { try standard.verified(server.text) }
    }

    @Test("Every reason is listed")
    func reasons() {
        let provoked = cases.compactMap(\.reason) + [FleetEngineReasons.callback]
        #expect(Set(provoked) == Set(FleetEngineConsumer.descriptor.reasons))
        #expect(FleetEngineConsumer.descriptor.reasons.allSatisfy { $0.code.hasPrefix("fleet_engine_") })
    }
}
