import AssayCore
import AssayEngine
import AssayFleetEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

private let driver = "driver: {vehicle: {claim: van}}"
private let vehicle = "https://fleetengine.googleapis.com/v1/providers/example-project/vehicles"

@Suite("Fleet Engine, from an App Check token to the record")
struct FleetEngineServiceTests {
    @Test(
        "An App Check token and a user's become a token for the user's vehicle, and the record says for which",
        arguments: [
            ["audience": .string(FleetEngineService.audience), "resource": .string("\(vehicle)/v")],
            ["resource": .string("\(vehicle)/v")],
            ["resource": .string("\(vehicle)/v"), "scope": "driver"],
        ] as [JSON])
    func exchange(_ fields: JSON) async throws {
        let service = try FleetEngineService(driver)
        let reply = try await service.exchange(service.appToken(), fields, user: service.user(["van": "v"])).result
            .get()
        let text = try #require(reply["access_token"]?.string)
        let claims = try TestAccounts.standard.get().verified(text).claims
        #expect(claims["authorization"] == ["vehicleid": "v"])
        #expect(reply["token_type"] == "Bearer")
        #expect(reply["issued_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
        #expect(reply["scope"] == "driver")
        #expect(reply["expires_in"] == 3540)
        let record = try #require(service.sink.records.last)
        #expect(record.facts.contains(Fact(.fleetEngineRole, .text("driver"))))
        #expect(record.facts.contains(Fact(.fleetEngineIDs, .text("vehicleid:v"))))
        #expect(!"\(record)".contains(text))
    }

    @Test("The paths of sample apps take the App Check token and the user's from headers")
    func endpoint() async throws {
        let service = try FleetEngineService(driver)
        let (token, user) = (try await service.appToken(), try service.user(["van": "v"]))
        let reply = await service.open("fleetEngineDriverToken", ["vehicleId": "v"], token, user: user)
        let text = try #require(try reply.result.get()["jwt"]?.string)
        #expect(try TestAccounts.standard.get().verified(text).claims["authorization"] == ["vehicleid": "v"])
        let other = await service.open("fleetEngineDriverToken", ["vehicleId": "w"], token, user: user)
        #expect(other.failure?.reason == FleetEngineReasons.id)
        #expect(other.failure?.status == .permissionDenied)
        #expect(other.failure?.message.contains("vehicle") == false)
        let nobody = await service.open("fleetEngineDriverToken", ["vehicleId": "v"], token, user: nil)
        #expect(nobody.failure?.reason == FleetEngineReasons.actorMissing)
        let server = await service.open("fleetEngineServerToken", [:], token, user: user)
        #expect(server.failure?.reason == FleetEngineReasons.role)
    }

    @Test("Without an App Check token nothing is given, whoever the user is", arguments: [nil, "x", "x.y.z"])
    func noToken(_ token: String?) async throws {
        let service = try FleetEngineService(driver)
        let reply = await service.open(
            "fleetEngineDriverToken", ["vehicleId": "v"], token, user: try service.user(["van": "v"]))
        #expect(reply.failure?.status == .unauthenticated)
        #expect(service.sink.records.last?.facts.contains { $0.name == .fleetEngineRole } == false)
    }

    @Test(
        "Nobody without a verified App Check token has the backend asked, or anything fetched",
        arguments: [nil, "x", "x.y.z", "forged", "altered"])
    func strangersAskNothing(_ kind: String?) async throws {
        let service = try FleetEngineService("driver: {callback: true}", callback: true)
        let good = try await service.appToken()
        let forged = try await FleetEngineService("driver: {callback: true}", callback: true).appToken()
        let parts = good.split(separator: ".")
        let token =
            switch kind {
            case "forged": forged
            case "altered": "\(parts[0]).\(parts[1]).\(forged.split(separator: ".")[2])"
            default: kind
            }
        let user = try service.user(["van": "v"])
        let door = await service.open("fleetEngineDriverToken", ["vehicleId": "v"], token, user: user)
        #expect(door.failure?.status == .unauthenticated)
        let exchange = await service.exchange(token ?? "", ["resource": .string("\(vehicle)/v")], user: user)
        #expect(exchange.failure != nil)
        #expect(service.http.requests.isEmpty)
        // The same with a good one is a question.
        _ = await service.open("fleetEngineDriverToken", ["vehicleId": "v"], good, user: user)
        #expect(service.http.requests.count == 1)
    }

    @Test("What the backend does not answer is undecided, and the App Check token stays good for another try")
    func undecided() async throws {
        let yes = ScriptedHTTP.Answer.success(OutboundResponse(status: 200, body: Array(#"{"allow": true}"#.utf8)))
        let down = ScriptedHTTP.Answer.success(OutboundResponse(status: 502))
        let service = try FleetEngineService("driver: {callback: true}", callback: true, answers: [down, yes, yes])
        let token = try await service.appToken(limitedUse: true)
        let fields: JSON = ["resource": .string("\(vehicle)/v")]
        let first = await service.exchange(token, fields, user: nil)
        #expect(first.failure?.status == .unavailable)
        #expect(first.failure?.reason == nil)
        #expect(try await service.exchange(token, fields, user: nil).result.get()["access_token"] != nil)
        #expect(await service.exchange(token, fields, user: nil).failure?.status == .permissionDenied)
        #expect(service.http.requests.count == 2)
        let body = try JSON.parse(try #require(service.http.requests.first).body)
        #expect(body["app"] == .string(FleetEngineService.app))
    }

    @Test("A limited-use token is not consumed by a request for somebody else's vehicle, or with another user")
    func unconsumed() async throws {
        let service = try FleetEngineService(driver)
        let (token, user) = (try await service.appToken(limitedUse: true), try service.user(["van": "v"]))
        for (vehicle, user) in [("w", user), ("v", nil), ("v", "x.y.z"), ("", user)] {
            let reply = await service.open("fleetEngineDriverToken", ["vehicleId": .string(vehicle)], token, user: user)
            #expect(reply.failure != nil, "\(vehicle)")
        }
        let good = await service.open("fleetEngineDriverToken", ["vehicleId": "v"], token, user: user)
        #expect(try good.result.get()["jwt"] != nil)
        let again = await service.open("fleetEngineDriverToken", ["vehicleId": "v"], token, user: user)
        #expect(again.failure != nil)
    }

    @Test("A resource of somebody else is invalid_target, and no reason for a record of refusal")
    func target() async throws {
        let service = try FleetEngineService(driver)
        let other = "https://fleetengine.googleapis.com/v1/providers/other-project/vehicles/v"
        let reply = await service.exchange(
            try await service.appToken(), ["resource": .string(other)], user: try service.user(["van": "v"]))
        #expect(reply.failure?.oauthError == "invalid_target")
        #expect(reply.failure?.status == .invalidArgument)
    }
}
