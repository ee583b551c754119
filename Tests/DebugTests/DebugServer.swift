import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Testing

/// An engine with debug tokens alone, two projects, and callers of whom one may administer.
struct DebugServer {
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let appID = "1:1234567890:ios:321abc456def7890"
    static let otherApp = "projects/other-project/apps/1:2:ios:ab"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    static let admin = "admin-token-0123456789"
    static let verifier = "verifier-token-0123456789"
    static let minter = "minter-token-0123456789"

    let clock: ManualClock
    let sink = RecordingSink()
    let store: FailingStore
    let engine: Engine

    /// - Parameters:
    ///   - providers: those of the first app.
    ///   - otherProviders: those of the app of the other project.
    init(
        providers: String, keys: KeyStore = .pooled(), store: (any StateStore)? = nil,
        otherProviders: String = "{debug: {}}", clock: ManualClock = ManualClock()
    ) throws {
        self.clock = clock
        self.store = FailingStore(store ?? MemoryStore(clock: clock.hostClock))
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self)]),
            policies: Self.policies(providers: providers, otherProviders: otherProviders),
            keys: keys, host: PluginHost(clock: clock.hostClock, store: self.store, logger: Self.silent),
            sink: sink)
    }

    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    static let debugHash = Hex.encode(DebugToken.hash(of: debugToken))

    static func policies(providers: String, otherProviders: String = "{debug: {}}") throws -> PolicySet {
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
                apps:
                  - id: \(appID)
                    token_ttl: 2h
                    providers: \(providers)
                oauth_clients: [{id: example-client, app: "\(appID)"}]
              - number: 2
                id: other-project
                apps: [{id: "1:2:ios:ab", providers: \(otherProviders)}]
            """
        return try .load([PolicyFile(name: "test.yaml", text: text)])
    }

    func call(
        _ method: String, _ resource: String, _ body: JSON = [:], as token: String? = admin,
        version: APIVersion = .v1beta
    ) async -> Reply {
        await engine.handle(
            Call(
                method, version: version, resource: resource, body: body,
                credentials: token.flatMap { BearerToken($0) }))
    }
}

extension Reply {
    /// The code of the reason for a refusal.
    var reason: String? {
        if case .failure(let failure) = result { failure.reason?.code } else { nil }
    }

    /// The status of a failure.
    var status: StatusCode? {
        if case .failure(let failure) = result { failure.status } else { nil }
    }
}

extension JSON {
    /// The claims of a token, not verified.
    static func claims(of token: String) throws -> JSON {
        let payload = token.split(separator: ".").dropFirst().first
        return try JSON.parse(try #require(payload.flatMap { Base64.decode($0) }))
    }
}
