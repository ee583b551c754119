import AssayCore
import AssayDeviceCheck
import AssayEngine
import AssayHTTPClient
import AssayKit
import AssayTesting
import AssayTestingHTTP
import Testing

/// What happens on the wire, and what comes of it: nil for a token.
private let events: [(ScriptedAnswer, String?)] = [
    (.proceed, nil), (.hangUp, "upstream_interrupted"),
    (.respond(OutboundResponse(status: 503, headers: [OutboundHeader("Retry-After", "9")])), "upstream_unavailable"),
    (.respond(OutboundResponse(status: 200, body: Array(repeating: 0x20, count: 1 << 16))), "upstream_too_large"),
    (
        .respond(OutboundResponse(status: 301, headers: [OutboundHeader("Location", "/v1/query_two_bits")])),
        "upstream_unexpected_status"
    ),
]

/// Waits longer than a provider does: a busy machine may take its time.
private final class PatientHTTP: OutboundHTTP {
    private let client: HTTPClientService

    init(_ client: HTTPClientService) {
        self.client = client
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        var request = request
        request.timeLimit = .seconds(600)
        return try await client.send(request)
    }
}

@Suite("DeviceCheck over sockets")
struct DeviceCheckSocketTests {
    @Test("A server is asked as policies say, and its faults decide nothing", arguments: events)
    func roundTrip(_ event: ScriptedAnswer, _ expected: String?) async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script([event])
        let client = try HTTPClientService(HTTPClientOptions())
        let failure = try await LocalServer { scene.apple.answer($0) }.run { port in
            let engine = try DeviceCheckScene.engine(
                DeviceCheckScene.policy(
                    """
                    device_check: {key_id: \(scene.team.keyID), private_key: "env:KEY", \
                    base_url: "http://localhost:\(port)/production"}
                    """), .provider(DeviceCheckProvider.self), team: scene.team, clock: scene.clock,
                http: PatientHTTP(client))
            let call = Call(
                "exchangeDeviceCheckToken", resource: DeviceCheckScene.app,
                body: ["deviceToken": DeviceCheckScene.token()])
            return await engine.handle(call).result.failure
        }
        await client.shutDown()
        #expect(failure?.detail?.split(separator: ":").first.map(String.init) == expected)
        #expect(failure?.status == (expected == nil ? nil : .unavailable))
        #expect(scene.questions == ["/production/v1/validate_device_token"])
    }

    @Test("Where nobody listens, nothing is decided")
    func nobody() async throws {
        let client = try HTTPClientService(HTTPClientOptions())
        let port = try await LocalServer { _ in .hangUp }.run { $0 }
        let scene = try DeviceCheckScene(
            ", base_url: \"http://localhost:\(port)/production\"", http: PatientHTTP(client))
        let failure = await scene.exchangeWithoutWaiting().failure
        await client.shutDown()
        #expect(failure?.status == .unavailable)
        #expect(failure?.detail?.hasPrefix("upstream_unreachable") == true)
    }
}
