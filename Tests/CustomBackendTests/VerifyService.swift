import AssayCore
import AssayCustomBackend
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Testing

/// An engine whose policy has backends, and two apps that have tokens for the asking.
struct VerifyService {
    static let app = "1:1234567890:ios:321abc456def7890"
    static let secondApp = "1:1234567890:android:0000000000000002"
    static let secret = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"

    let clock = ManualClock()
    let sink = RecordingSink()
    let engine: Engine

    /// - Parameter section: the section `custom_backend` of the project's policy.
    init(_ section: String) throws {
        engine = try Engine(
            registry: Self.registry(),
            policies: .load([PolicyFile(name: "test.yaml", text: Self.policy(section))]), keys: .pooled(),
            host: Self.host(clock), sink: sink)
    }

    static func registry() throws -> Registry {
        try Registry([.provider(DebugProvider.self), .consumer(CustomBackendConsumer.self)], administration: .api)
    }

    static func host(_ clock: ManualClock) -> PluginHost {
        PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    static func policy(_ section: String) -> String {
        """
        tokens: {algorithm: ES256}
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - {id: "\(app)", providers: {debug: \(debug)}}
              - {id: "\(secondApp)", providers: {debug: \(debug)}}
            consumers:
              custom_backend:
        \(section.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n"))
        """
    }

    private static let debug = "{tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}"

    func token(_ app: String = app, limitedUse: Bool = false) async throws -> PresentedToken {
        let reply = await engine.handle(
            Call(
                "exchangeDebugToken", resource: "projects/example-project/apps/\(app)",
                body: ["limitedUse": .bool(limitedUse), "debugToken": .string(Self.secret)]))
        return .one(try #require(try reply.result.get()["token"]?.string))
    }

    /// Asks about a request of which the proxy tells these fields.
    func ask(_ backend: String?, _ token: PresentedToken?, _ told: JSON = [:]) async -> Reply {
        var members = told.members ?? []
        if let backend { members.append(JSONMember("backend", .string(backend))) }
        return await engine.handle(Call("verifyRequest", body: .object(members), token: token))
    }

    /// Asks about a request as nginx does.
    func ask(_ backend: String?, _ token: PresentedToken?, _ method: String, _ uri: String) async -> Reply {
        await ask(backend, token, ["originalMethod": .string(method), "originalUri": .string(uri)])
    }
}

extension Reply {
    /// The code of the reason for a refusal.
    var reason: String? {
        if case .failure(let failure) = result { failure.reason?.code } else { nil }
    }

    var status: StatusCode? {
        if case .failure(let failure) = result { failure.status } else { nil }
    }
}
