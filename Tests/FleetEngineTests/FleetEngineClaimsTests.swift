import AssayCore
import AssayKit
import Testing

@testable import AssayFleetEngine

/// The object under `authorization` of each role (Google, java-fleetengine-auth, `token/*Claims.java`), and beyond that
/// `taskids`.
private let objects: [(FleetEngineRole, [FleetEngineEntity: [String]], JSON)] = [
    (.server, [:], ["vehicleid": "*", "tripid": "*"]),
    (.driver, [.vehicle: ["v"]], ["vehicleid": "v"]),
    (.driver, [.vehicle: ["*"]], ["vehicleid": "*"]),
    (.consumer, [.trip: ["t"]], ["tripid": "t"]),
    (.deliveryServer, [:], ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]),
    (.deliveryServer, [.task: ["b", "a", "b"]], ["taskids": ["a", "b"]]),
    (.deliveryServer, [.task: ["a"]], ["taskids": ["a"]]),
    (.deliveryServer, [.task: ["*"]], ["taskids": ["*"]]),
    (.deliveryConsumer, [.task: ["a"]], ["taskid": "a"]),
    (.deliveryConsumer, [.tracking: ["x"]], ["trackingid": "x"]),
    (.untrustedDeliveryDriver, [.deliveryVehicle: ["d"]], ["deliveryvehicleid": "d"]),
    (.trustedDeliveryDriver, [.deliveryVehicle: ["d"]], ["deliveryvehicleid": "d"]),
    (.trustedDeliveryDriver, [.deliveryVehicle: ["d"], .task: ["a"]], ["deliveryvehicleid": "d", "taskid": "a"]),
    (.trustedDeliveryDriver, [.task: ["a", "b"]], ["taskids": ["a", "b"]]),
    (.deliveryFleetReader, [:], ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]),
    (
        .fleetReader, [:],
        ["vehicleid": "*", "tripid": "*", "deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
    ),
    (.custom, [.vehicle: ["v"], .trip: ["t"]], ["vehicleid": "v", "tripid": "t"]),
    (.custom, [.vehicle: ["v"], .task: ["a", "b"]], ["vehicleid": "v", "taskids": ["a", "b"]]),
    (
        .custom, [.deliveryVehicle: ["*"], .task: ["*"], .tracking: ["*"]],
        ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
    ),
    (.custom, [.vehicle: []].merging([.trip: ["t"]]) { $1 }, ["tripid": "t"]),
]

/// What no token has.
private let wrong: [(FleetEngineRole, [FleetEngineEntity: [String]])] = [
    (.driver, [:]), (.driver, [.vehicle: []]), (.driver, [.trip: ["t"]]), (.driver, [.vehicle: ["v"], .trip: ["t"]]),
    (.driver, [.vehicle: ["v", "w"]]), (.driver, [.deliveryVehicle: ["d"]]), (.consumer, [.vehicle: ["v"]]),
    (.server, [.vehicle: ["v"]]), (.fleetReader, [.tracking: ["x"]]), (.deliveryFleetReader, [.task: ["a"]]),
    (.deliveryServer, [.tracking: ["x"]]), (.deliveryServer, [.task: ["a", "*"]]),
    (.deliveryConsumer, [.task: ["a", "b"]]), (.deliveryConsumer, [.task: ["a"], .tracking: ["x"]]),
    (.deliveryConsumer, [.task: ["*"], .tracking: ["*"]]), (.deliveryConsumer, [.deliveryVehicle: ["d"]]),
    (.untrustedDeliveryDriver, [.deliveryVehicle: ["d"], .task: ["a"]]), (.untrustedDeliveryDriver, [.task: ["a"]]),
    (.trustedDeliveryDriver, [.deliveryVehicle: ["d"], .task: ["a", "b"]]), (.trustedDeliveryDriver, [:]),
    (.trustedDeliveryDriver, [.tracking: ["x"]]), (.custom, [:]), (.custom, [.task: ["*", "a"]]),
    (.custom, [.task: ["a", "b"], .deliveryVehicle: ["d"]]), (.custom, [.task: ["a", "b"], .tracking: ["x"]]),
    (.custom, [.task: ["a", "b"], .tracking: ["*"]]), (.custom, [.task: ["a"], .tracking: ["x"]]),
    (.custom, [.deliveryVehicle: ["d"], .tracking: ["x"]]), (.custom, [.deliveryVehicle: ["*"], .tracking: ["x"]]),
    (.custom, [.tracking: ["x", "y"]]), (.custom, [.task: (0...64).map { "task-\($0)" }]),
]

@Suite("Claims for Fleet Engine")
struct FleetEngineClaimsTests {
    @Test("Each role has its claims", arguments: objects)
    func claimsOfRole(_ role: FleetEngineRole, _ ids: [FleetEngineEntity: [String]], _ expected: JSON) throws {
        let claims = try claims(role, ids)
        let made = try JSON.parse(claims.json)
        #expect(made.members.map { Set($0) } == expected.members.map { Set($0) })
        #expect(made.members?.count == expected.members?.count)
    }

    @Test("Every role is in the table")
    func whole() {
        #expect(Set(objects.map(\.0)) == Set(FleetEngineRole.allCases))
    }

    @Test("Claims that do not go together, or not with the role, are in no token", arguments: wrong)
    func inNoToken(_ role: FleetEngineRole, _ ids: [FleetEngineEntity: [String]]) {
        #expect(throws: InvalidFleetEngineClaims.self) { try claims(role, ids) }
    }

    @Test("There may be 64 tasks")
    func limit() throws {
        let claims = try claims(.deliveryServer, [.task: (0..<64).map { "task-\($0)" }])
        #expect(try JSON.parse(claims.json)["taskids"]?.array?.count == 64)
        #expect(claims.summary.utf8.count < 200)
        #expect(claims.summary.hasSuffix("and 56 more"))
    }

    @Test("Text is written as JSON wants it")
    func escapes() throws {
        let claims = try claims(.driver, [.vehicle: [#"a"\é"#]])
        #expect(try JSON.parse(claims.json)["vehicleid"] == .string(#"a"\é"#))
    }

    private func claims(
        _ role: FleetEngineRole, _ ids: [FleetEngineEntity: [String]]
    ) throws -> FleetEngineClaims {
        try FleetEngineClaims(role, ids.mapValues { $0.compactMap { FleetEngineID($0) } })
    }
}
