import AssayCore
import AssayKit
import Testing

@testable import AssayFleetEngine

private let base = "https://fleetengine.googleapis.com/v1/providers/example-project"

/// Rules for whoever is asked for; the user may have anything.
private let roles = """
    roles:
      driver: {vehicle: {any: true}, actor: {claim: sub, values: [u]}}
      consumer: {trip: {any: true}, actor: {claim: sub, values: [u]}}
      server: {actor: {claim: sub, values: [u]}}
      delivery_server: {actor: {claim: sub, values: [u]}}
      delivery_consumer: {tracking: {any: true}, task: {any: true}, actor: {claim: sub, values: [u]}}
      untrusted_delivery_driver: {delivery_vehicle: {any: true}, actor: {claim: sub, values: [u]}}
      trusted_delivery_driver: {delivery_vehicle: {any: true}, task: {any: true}, actor: {claim: sub, values: [u]}}
      delivery_fleet_reader: {actor: {claim: sub, values: [u]}}
      fleet_reader: {actor: {claim: sub, values: [u]}}
      custom: {vehicle: {any: true}, trip: {any: true}, actor: {claim: sub, values: [u]}}
    """

/// What is asked for, which role it is, and the claims of the token.
private let good: [([String], [String], String, JSON)] = [
    ([], ["vehicles/v"], "driver", ["vehicleid": "v"]), ([], ["trips/t"], "consumer", ["tripid": "t"]),
    ([], ["deliveryVehicles/d"], "untrusted_delivery_driver", ["deliveryvehicleid": "d"]),
    ([], ["taskTrackingInfo/x"], "delivery_consumer", ["trackingid": "x"]),
    (["driver"], ["vehicles/v"], "driver", ["vehicleid": "v"]),
    (["driver"], ["vehicles/with%20space"], "driver", ["vehicleid": "with space"]),
    (["driver"], ["vehicles/M%C3%BCller"], "driver", ["vehicleid": "Müller"]),
    (["driver"], ["vehicles/100%25"], "driver", ["vehicleid": "100%"]),
    (["driver"], ["vehicles/%252F"], "driver", ["vehicleid": "%2F"]),
    (["delivery_consumer"], ["tasks/a"], "delivery_consumer", ["taskid": "a"]),
    (
        ["trusted_delivery_driver"], ["deliveryVehicles/d", "tasks/a"], "trusted_delivery_driver",
        ["deliveryvehicleid": "d", "taskid": "a"]
    ),
    (["delivery_server"], ["tasks/a", "tasks/b"], "delivery_server", ["taskids": ["a", "b"]]),
    (["delivery_server"], [], "delivery_server", ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]),
    (["server"], [], "server", ["vehicleid": "*", "tripid": "*"]),
    (
        ["delivery_fleet_reader"], [], "delivery_fleet_reader",
        ["deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
    ),
    (
        ["fleet_reader"], [], "fleet_reader",
        ["vehicleid": "*", "tripid": "*", "deliveryvehicleid": "*", "taskid": "*", "trackingid": "*"]
    ),
    (["custom"], ["vehicles/v", "trips/t"], "custom", ["vehicleid": "v", "tripid": "t"]),
]

/// What is asked for wrongly, and the error in OAuth's words.
private let wrong: [([String], [String], String)] =
    [
        ([], [], "invalid_scope"), ([], ["\(base)/tasks/a"], "invalid_scope"),
        ([], ["\(base)/vehicles/v", "\(base)/trips/t"], "invalid_scope"),
        (["driver", "consumer"], [], "invalid_scope"),
        (["DRIVER"], ["\(base)/vehicles/v"], "invalid_scope"), (["pilot"], ["\(base)/vehicles/v"], "invalid_scope"),
        (["driver"], [], "invalid_target"), (["driver"], ["\(base)/trips/t"], "invalid_target"),
        (["driver"], ["\(base)/vehicles/v", "\(base)/vehicles/w"], "invalid_target"),
        (["server"], ["\(base)/vehicles/v"], "invalid_target"),
    ]
    + ([
        "\(base)/vehicles/", "\(base)/vehicles", base, "\(base)/vehicles/v/w", "\(base)/vehicles//v",
        "\(base)//vehicles/v",
        "\(base)/vehicles/v/", "\(base)/vehicles/v?x=y", "\(base)/vehicles/v#x", "\(base)/vehicles/a%2Fb",
        "\(base)/vehicles/a%3Fb", "\(base)/vehicles/a%23b", "\(base)/vehicles/a:b", "\(base)/vehicles/a,b",
        "\(base)/vehicles/%", "\(base)/vehicles/%4", "\(base)/vehicles/%zz", "\(base)/vehicles/%FF",
        "\(base)/vehicles/%00", "\(base)/vehicles/e%CC%81", "\(base)/vehicles/v v", "\(base)/vehicles/é",
        "\(base)/vehicles/\(String(repeating: "a", count: 65))",
        "\(base)/vehicles/\(String(repeating: "%61", count: 5000))",
        "\(base)/Vehicles/v", "\(base)/boats/b", "\(base)/v%65hicles/v",
        "https://fleetengine.googleapis.com/v1/providers/other-project/vehicles/v",
        "https://fleetengine.googleapis.com/v1/providers/1234567890/vehicles/v",
        "https://fleetengine.googleapis.com/v1/providers/*/vehicles/v",
        "https://fleetengine.googleapis.com/v2/providers/example-project/vehicles/v",
        "https://fleetengine.googleapis.com//v1/providers/example-project/vehicles/v",
        "http://fleetengine.googleapis.com/v1/providers/example-project/vehicles/v",
        "https://fleetengine.example.com/v1/providers/example-project/vehicles/v",
        "https://fleetengine.googleapis.com.example.com/v1/providers/example-project/vehicles/v",
        "https://fleetengine.googleapis.com/", "providers/example-project/vehicles/v", "", "x",
    ] as [String]).map { (["driver"], [$0], "invalid_target") }

@Suite("Token exchange for Fleet Engine")
struct FleetEngineExchangeTests {
    @Test("The scope names the role and the resources the IDs; one kind of ID alone may name the role", arguments: good)
    func granted(_ scope: [String], _ resources: [String], _ role: String, _ expected: JSON) async throws {
        let scene = try FleetEngineScene(roles)
        let verdict = try await scene.exchange(
            scope: scope, resources: resources.map { "\(base)/\($0)" }, by: ["sub": "u"])
        guard case .granted(let token) = verdict else {
            Issue.record("refused: \(verdict)")
            return
        }
        let claims = try TestAccounts.standard.get().verified(token.text).claims
        let authorization = claims["authorization"]
        #expect(authorization?.members.map { Set($0) } == expected.members.map { Set($0) })
        #expect(token.type == .jwt)
        #expect(token.use == "Bearer")
        #expect(token.lifetime == .seconds(3540))
        #expect(token.fields.first { $0.name == "scope" }?.value == .string(role))
        #expect(token.facts.contains(Fact(.fleetEngineRole, .text(role))))
    }

    @Test("What is no role or no resource of this provider is an error in OAuth's words", arguments: wrong)
    func failed(_ scope: [String], _ resources: [String], _ error: String) async throws {
        let scene = try FleetEngineScene(roles)
        let failure = try await #require(throws: CallFailure.self) {
            try await scene.exchange(scope: scope, resources: resources, by: ["sub": "u"])
        }
        #expect(failure.oauthError == error)
        #expect(failure.status == .invalidArgument)
    }

    @Test("A star in a resource, escaped or not, is one for the policy")
    func wildcard() async throws {
        let scene = try FleetEngineScene(roles)
        for star in ["*", "%2A", "%2a"] {
            let verdict = try await scene.exchange(resources: ["\(base)/vehicles/\(star)"], by: ["sub": "u"])
            guard case .refused(let reason, _, _) = verdict else {
                Issue.record("granted for \(star)")
                continue
            }
            #expect(reason == FleetEngineReasons.wildcard)
        }
    }

    @Test("Too many resources are not looked at")
    func many() async throws {
        let scene = try FleetEngineScene(roles)
        let failure = try await #require(throws: CallFailure.self) {
            try await scene.exchange(
                scope: ["delivery_server"], resources: Array(repeating: "\(base)/tasks/a", count: 65), by: ["sub": "u"])
        }
        #expect(failure.oauthError == "invalid_target")
    }

    @Test("An access token may be asked for by that name; other types are not given")
    func types() async throws {
        let scene = try FleetEngineScene(roles)
        let verdict = try await scene.exchange(scope: ["server"], type: .accessToken, by: ["sub": "u"])
        guard case .granted(let token) = verdict else {
            Issue.record("refused")
            return
        }
        #expect(token.type == .accessToken)
        let failure = try await #require(throws: CallFailure.self) {
            try await scene.exchange(scope: ["server"], type: .idToken, by: ["sub": "u"])
        }
        #expect(failure.oauthError == "invalid_request")
    }

    @Test("Another audience is the audience of the exchange, of the tokens, and of resources")
    func audience() async throws {
        let scene = try FleetEngineScene("provider_id: fleet\naudience: https://staging.example.com/\n\(roles)")
        #expect(scene.consumer.audiences == ["https://staging.example.com/"])
        for host in ["staging.example.com", "fleetengine.googleapis.com"] {
            let verdict = try await scene.exchange(
                resources: ["https://\(host)/v1/providers/fleet/vehicles/v"], by: ["sub": "u"])
            guard case .granted(let token) = verdict else {
                Issue.record("refused")
                continue
            }
            let claims = try TestAccounts.standard.get().verified(token.text).claims
            #expect(claims["aud"] == "https://staging.example.com/")
        }
        let failure = try await #require(throws: CallFailure.self) {
            try await scene.exchange(resources: ["\(base)/vehicles/v"], by: ["sub": "u"])
        }
        #expect(failure.oauthError == "invalid_target")
    }
}
