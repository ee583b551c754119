import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTestSupport
import Testing

/// A provider that blocks the thread it is called on.
private struct StuckProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}
    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let brake = Brake()
    static let refusal = Reason("stuck_refused", "It is stuck.")
    static let descriptor = PluginDescriptor.provider(
        name: "stuck", summary: "Blocks its thread.", reasons: [refusal],
        limits: PluginLimits(time: .seconds(3)))
    static let methods: [ProviderMethod<StuckProvider>] = [
        .exchange("exchangeStuckEvidence") { (_, _: Request, _) in
            brake.wait()
            return .refused(refusal)
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("A plugin that blocks its threads, behind a server", .timeLimit(.minutes(20)))
struct StuckProviderTests {
    private static let app = "projects/1/apps/1:1:ios:1"

    private func engine() throws -> Engine {
        let policy = """
            projects:
              - number: 1
                id: example-project
                apps:
                  - id: 1:1:ios:1
                    providers:
                      stuck: {}
                      debug: {tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: Self.token)))}]}
            """
        return try Engine(
            registry: Registry([.provider(StuckProvider.self), .provider(DebugProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: policy)]), keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: TestServer.logger))
    }

    private static let token = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"

    private func post(_ method: String, _ body: String, port: Int) async throws -> RawReply {
        try await RawConnection.with(port: port) { connection in
            try await connection.send(
                "POST /v1/\(Self.app):\(method) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            return try await connection.reply()
        }
    }

    @Test("Other providers and the pages of the server answer while its calls wait, and those are answered in time")
    func blocked() async throws {
        try await TestServer.with(try engine()) { port, _ in
            let stuck = (0..<12).map { _ in Task { try await post("exchangeStuckEvidence", "{}", port: port) } }
            for _ in 0..<10 {
                let body = "{\"debugToken\": \"\(Self.token)\"}"
                #expect(try await post("exchangeDebugToken", body, port: port).status == 200)
                let health = try await RawConnection.with(port: port) { connection in
                    try await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    return try await connection.reply()
                }
                #expect(health.status == 200)
            }
            for call in stuck { #expect(try await call.value.status == 503) }
        }
        StuckProvider.brake.release()
    }
}
