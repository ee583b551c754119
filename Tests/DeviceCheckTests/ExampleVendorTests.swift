import AssayCore
import AssayDeviceCheck
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import Synchronization
import Testing

/// The vendor's answer, the status that comes of it (nil: a token), and its reason.
private let answers: [(Int, String, StatusCode?, Reason?)] = [
    (200, #"{"verdict":"genuine"}"#, nil, nil),
    (200, #"{"verdict":"unknown"}"#, .permissionDenied, ExampleVendorProvider.reasons.refused),
    (401, "", .unavailable, nil), (429, "", .unavailable, nil),
    (200, "genuine", .unavailable, nil), (503, #"{"verdict":"genuine"}"#, .unavailable, nil),
    (418, "", .unavailable, nil),
]

@Suite("Another vendor's device tokens")
struct ExampleVendorTests {
    private final class Server: OutboundHTTP {
        let response: OutboundResponse
        let requests = Mutex<[OutboundRequest]>([])

        init(_ response: OutboundResponse) {
            self.response = response
        }

        func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
            requests.withLock { $0.append(request) }
            return response
        }
    }

    private func exchange(_ token: String, _ engine: Engine) async -> Result<JSON, CallFailure> {
        await engine.handle(
            Call(
                "exchangeExampleVendorToken", resource: DeviceCheckScene.app, body: ["deviceToken": .string(token)])
        ).result
    }

    @Test("They are appraised by the same rules, with nothing but the vendor's own said anew", arguments: answers)
    func outcomes(_ status: Int, _ body: String, _ expected: StatusCode?, _ reason: Reason?) async throws {
        let server = Server(
            OutboundResponse(
                status: status, headers: [OutboundHeader("Retry-After", "30")], body: Array(body.utf8)))
        let engine = try DeviceCheckScene.engine(
            DeviceCheckScene.policy(
                "example_vendor: {api_key: \"env:KEY\", base_url: \"https://device.example.com\"}", apple: "name: A",
                permissions: [.admin]),
            .provider(ExampleVendorProvider.self), team: SimulatedAppleTeam(teamID: "ABCDE12345"),
            clock: ManualClock(), http: server)
        let token = String(repeating: "ab", count: 32)
        let failure = await exchange(token, engine).failure
        #expect(failure?.status == expected)
        #expect(failure?.reason == reason)
        #expect(server.requests.withLock { $0.first?.header("x-api-key") }?.contains("PRIVATE KEY") == true)
        guard expected == nil else { return }
        #expect(await exchange(token.uppercased(), engine).failure?.reason == ExampleVendorProvider.reasons.reused)
        #expect(await exchange("xyz", engine).failure?.reason == ExampleVendorProvider.reasons.malformed)
        #expect(server.requests.withLock { $0.count } == 1)
    }

    @Test("A policy that asks for bits which the vendor does not keep is refused")
    func noBits() throws {
        let error = try #require(throws: (any Error).self) {
            try DeviceCheckScene.engine(
                DeviceCheckScene.policy(
                    """
                    example_vendor: {api_key: "env:KEY", base_url: "https://device.example.com", \
                    refuse_when: {bit0: true}}
                    """, apple: "name: A", permissions: [.admin]),
                .provider(ExampleVendorProvider.self), team: SimulatedAppleTeam(teamID: "ABCDE12345"),
                clock: ManualClock())
        }
        #expect("\(error)".contains("keeps no bits"), "\(error)")
    }

    @Test("It stands beside Apple's in one program")
    func both() throws {
        let registry = try Registry(
            [.provider(DeviceCheckProvider.self), .provider(ExampleVendorProvider.self)], administration: .api)
        #expect(registry.descriptors.map(\.name) == ["device_check", "example_vendor"])
    }
}
