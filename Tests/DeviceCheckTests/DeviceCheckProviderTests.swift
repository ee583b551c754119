import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Testing

@testable import DeviceCheck

private let undecided: [(Int, String, UpstreamFailure.Kind)] = [
    (400, "Missing or incorrectly formatted timestamp", .requestRefused),
    (401, "Unable to verify authorization token", .unauthorized), (403, "Forbidden", .unauthorized),
    (429, "", .throttled), (503, "", .unavailable), (302, "", .unexpectedStatus), (200, "hello", .malformed),
]

private let refusals = [
    "Missing or incorrectly formatted device token payload", " missing or incorrectly formatted DEVICE TOKEN\n",
    #"{"responseCode":"400","responseMessage":"Missing or incorrectly formatted device token payload"}"#,
]

@Suite("DeviceCheck")
struct DeviceCheckProviderTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    private let clock = ManualClock()
    private let sink = RecordingSink()
    private let team: SimulatedAppleTeam
    private let apple: SimulatedAppleServer

    init() throws {
        team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        apple = SimulatedAppleServer(
            authority: try SimulatedAppleCA(at: clock.now), teams: [team], clock: clock.hostClock)
    }

    private func engine(_ more: String = "") throws -> Engine {
        let text = """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      device_check: {key_id: \(team.keyID), private_key: "env:KEY"\(more)}
            """
        let pem = Array(team.privateKeyPEM.utf8)
        return try Engine(
            registry: Registry([.provider(DeviceCheckProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .ephemeral(),
            host: Host(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
                secrets: SecretSource { _ in pem }, http: apple,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), sink: sink)
    }

    private func exchange(_ engine: Engine, _ token: String) async -> Result<JSON, CallFailure> {
        await engine.handle(
            Call("exchangeDeviceCheckToken", resource: Self.app, body: ["device_token": .string(token)])
        ).result
    }

    private func failure(_ result: Result<JSON, CallFailure>) -> CallFailure? {
        guard case .failure(let failure) = result else { return nil }
        return failure
    }

    @Test("a good token is exchanged once")
    func once() async throws {
        let engine = try engine()
        let token = SimulatedAppleServer.deviceToken(of: "a")
        #expect(try await exchange(engine, token).get()["token"]?.string != nil)
        #expect(failure(await exchange(engine, token))?.reason == DeviceCheckReasons.reused)
    }

    @Test("a token of the other environment, and what is no token, are refused")
    func bad() async throws {
        let engine = try engine()
        let other = SimulatedAppleServer.deviceToken(of: "a", in: .development)
        #expect(failure(await exchange(engine, other))?.reason == DeviceCheckReasons.refused)
        #expect(failure(await exchange(engine, "!"))?.reason == DeviceCheckReasons.malformed)
    }

    @Test("Apple's words for a bad device token refuse it, however they are written", arguments: refusals)
    func words(_ text: String) async throws {
        apple.script([.respond(OutboundResponse(status: 400, body: Array(text.utf8)))])
        let failure = failure(await exchange(try engine(), SimulatedAppleServer.deviceToken(of: "a")))
        #expect(failure?.status == .permissionDenied)
        #expect(failure?.reason == DeviceCheckReasons.refused)
    }

    @Test("any other answer decides nothing, and the client is told when to come back", arguments: undecided)
    func undecidable(_ status: Int, _ text: String, _ kind: UpstreamFailure.Kind) async throws {
        let response = OutboundResponse(
            status: status, headers: [OutboundHeader("Retry-After", "60")], body: Array(text.utf8))
        apple.script([.respond(response), .respond(response)])
        let failure = failure(await exchange(try engine(), SimulatedAppleServer.deviceToken(of: "a")))
        #expect(failure?.status == .unavailable)
        #expect(failure?.retryAfter != nil)
        #expect(failure?.detail?.hasPrefix(kind.rawValue) == true)
    }

    @Test("bits that were never set are not set")
    func unset() async throws {
        let engine = try engine(", refuse_when: {bit0: true}")
        #expect(try await exchange(engine, SimulatedAppleServer.deviceToken(of: "a")).get()["token"] != nil)
    }
}
