import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

/// An engine with two projects, and callers who may verify, mint and administer.
struct AdminService {
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let appID = "1:1234567890:ios:321abc456def7890"
    static let secondApp = "projects/example-project/apps/1:1234567890:ios:0000000000000002"
    static let otherApp = "projects/other-project/apps/1:2:ios:ab"
    static let project = "projects/example-project"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    static let admin = "admin-token-0123456789"
    static let verifier = "verifier-token-0123456789"
    static let minter = "minter-token-0123456789"

    let clock: ManualClock
    let sink = RecordingSink()
    let store: FailingStore
    let engine: Engine

    /// - Parameters:
    ///   - project: further keys of the first project.
    ///   - providers: those of the first app.
    init(
        project: String = "verification: {accept_development: true}",
        providers: String = "{vouch: {}, debug: {tokens: [{name: a, sha256: \(debugHash)}]}}",
        plugins: [Plugin] = [.provider(VouchProvider.self), .provider(DebugProvider.self)],
        unoffered: [MethodDescriptor] = [], keys: KeyStore = .pooled(), store: (any StateStore)? = nil,
        otherProviders: String = "{vouch: {}}",
        clock: ManualClock = ManualClock()
    ) throws {
        self.clock = clock
        self.store = FailingStore(store ?? MemoryStore(clock: clock.hostClock))
        engine = try Engine(
            registry: Registry(plugins, administration: .api, unoffered: unoffered),
            policies: Self.policies(project: project, providers: providers, otherProviders: otherProviders),
            keys: keys, host: PluginHost(clock: clock.hostClock, store: self.store, logger: TestService.silent),
            sink: sink)
    }

    static let debugHash = Hex.encode(DebugToken.hash(of: debugToken))

    static func policies(
        project: String = "verification: {accept_development: true}", providers: String = "{vouch: {}}",
        appID: String = appID, otherProviders: String = "{vouch: {}}"
    ) throws -> PolicySet {
        let hash = { (text: String) in Hex.encode(SHA256.hash(Array(text.utf8))) }
        let text = """
            tokens: {algorithm: ES256}
            callers:
              root: {sha256: \(hash(admin)), permissions: [admin]}
              verifier: {sha256: \(hash(verifier)), permissions: [appCheckTokens.verify]}
              minter: {sha256: \(hash(minter)), permissions: [tokens.mint], projects: [example-project]}
            projects:
              - number: 1234567890
                id: example-project
                \(project.replacing("\n", with: " "))
                apps:
                  - id: \(appID)
                    token_ttl: 2h
                    providers: \(providers)
                  - id: 1:1234567890:ios:0000000000000002
                oauth_clients: [{id: example-client, app: "\(appID)"}]
              - number: 2
                id: other-project
                apps: [{id: "1:2:ios:ab", providers: \(otherProviders)}]
            """
        return try .load([PolicyFile(name: "test.yaml", text: text)])
    }

    func call(
        _ method: String, _ resource: String = project, _ body: JSON = [:], as token: String? = admin,
        version: APIVersion = .v1beta
    ) async -> Reply {
        await engine.handle(
            Call(
                method, version: version, resource: resource, body: body,
                credentials: token.flatMap { BearerToken($0) }))
    }

    /// A fresh token of the app.
    func token(
        _ app: String = app, _ body: JSON = ["limitedUse": true], by method: String = "exchangeWord"
    ) async throws -> String {
        try #require(try await call(method, app, body, as: nil).result.get()["token"]?.string)
    }

    func verify(_ token: String, _ more: KeyValuePairs<String, JSON> = [:], as caller: String = verifier) async -> Reply
    {
        let members = [JSONMember("app_check_token", .string(token))] + more.map { JSONMember($0.key, $0.value) }
        return await call("verifyAppCheckToken", Self.project, .object(members), as: caller)
    }

    /// Whether a verification found a good token, and one that was used before; nil for any other answer.
    func isConsumed(_ reply: Reply) -> Bool? {
        switch reply.result {
        case .success([:]): false
        case .success(["alreadyConsumed": true]): true
        default: nil
        }
    }
}
