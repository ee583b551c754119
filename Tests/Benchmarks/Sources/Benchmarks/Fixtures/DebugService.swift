internal import AssayCore
internal import AssayCrypto
internal import AssayCustomBackend
internal import AssayDebug
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import AssayVerifier
internal import Logging

/// An engine with one app that takes one debug token, and a token that it issued.
struct DebugService: Sendable {
    let engine: Engine
    let token: String
    let keySet: JSON

    static let resource = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
    static let body: JSON = ["debugToken": .string(secret)]
    static let expectation = TokenVerifier.Expectation(
        issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/1234567890")

    private static let secret = "7c4f0c9e-2f0b-4a57-9d0e-0f3f5a3f6c11"
    private static let policy = """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                providers: {debug: {tokens: [{name: benchmark, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}}
            consumers:
              custom_backend:
                tokens: {accept_development: true}
                backends: {orders: {}}
        """

    init() async throws {
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self), .consumer(CustomBackendConsumer.self)]),
            policies: .load([PolicyFile(name: "benchmark.yaml", text: Self.policy)]), keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: .silent), sink: NoSink())
        token = try await Self.issue(engine)
        keySet = try await engine.handle(Call("jwks")).result.get()
    }

    /// Has a token issued, by an exchange that the client would make.
    func issue() async throws {
        _ = try await Self.issue(engine)
    }

    /// What relying parties know of the keys.
    func keys() throws -> JWKSet {
        try JWKSet(json: keySet.encoded)
    }

    /// Another token.
    func anotherToken() async throws -> String {
        try await Self.issue(engine)
    }

    private static func issue(_ engine: Engine) async throws -> String {
        let reply = await engine.handle(Call("exchangeDebugToken", resource: resource, body: body))
        guard let token = try reply.result.get()["token"]?.string else { throw BenchmarkFailure("no token") }
        return token
    }
}

extension Logger {
    /// Writes nothing.
    static var silent: Logger { Logger(label: "benchmark", factory: { _ in SwiftLogNoOpLogHandler() }) }
}

/// What becomes of the record of a decision is the operator's choice; here nothing does.
struct NoSink: DecisionSink {
    func record(_ record: DecisionRecord) {}
}
