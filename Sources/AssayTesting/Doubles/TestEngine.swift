public import AssayCore
public import AssayEngine
public import AssayKit
internal import AssayPolicy
internal import AssayServices
public import Logging

/// An engine in memory for the tests of a plugin: a clock that stands still, a store that can fail, and every record.
///
///     let engine = try TestEngine([.provider(DoorLockProvider.self)], policy: text)
///     let challenge = try await engine.challenge("generateDoorLockChallenge", app)
///     let reply = await engine.call("exchangeDoorLockCode", app, ["challenge": …])
public struct TestEngine: Sendable {
    /// What an app is called in ``policy(providers:app:)``.
    public static let app = TestApp.first.resource()

    /// The engine's clock; a test moves it.
    public let clock: ManualClock
    /// The state, in memory; a test can make it fail.
    public let store: FailingStore
    /// The records of all decisions.
    public let sink: RecordingSink
    /// The engine, for everything else.
    public let engine: Engine

    /// Builds an engine with keys that are made at once.
    ///
    /// - Parameters:
    ///   - plugins: the plugins that the policy names.
    ///   - policy: the text of a policy file.
    ///   - secrets: where plugins find their secrets.
    ///   - http: what plugins call other servers with, such as ``ScriptedHTTP``.
    ///   - stateAge: for how long the state is complete: evidence from before that counts as used.
    /// - Throws: `Diagnostics` about the policy, `RegistryError` about the plugins.
    public init(
        _ plugins: [Plugin], policy: String, secrets: SecretSource = SecretSource { _ in nil },
        http: any OutboundHTTP = NoOutboundHTTP(), logger: Logger? = nil, meter: Meter = .none,
        options: Engine.Options = Engine.Options(), stateAge: Duration = .seconds(86_400)
    ) throws {
        clock = ManualClock()
        store = FailingStore(AgedStore(clock.hostClock, age: stateAge))
        sink = RecordingSink()
        engine = try Engine(
            registry: Registry(plugins, administration: .api),
            policies: .load([PolicyFile(name: "test.yaml", text: policy)]),
            keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: store, secrets: secrets, http: http,
                logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, meter: meter),
            sink: sink, options: options)
    }

    /// A policy with one app, ``app``, whose tokens are signed by ES256.
    ///
    /// - Parameters:
    ///   - providers: the app's section `providers`, as YAML from its first column.
    ///   - app: further keys of the app, as YAML from the first column.
    public static func policy(providers: String, app: String = "") -> String {
        """
        tokens: {algorithm: ES256}
        projects:
          - number: \(TestApp.first.projectNumber)
            id: \(TestApp.first.projectID)
            apps:
              - id: \(TestApp.first.id())
        \(PolicyText.indented(app, by: 8))
                providers:
        \(PolicyText.indented(providers, by: 10))
        """
    }

    /// Makes a call.
    ///
    /// - Parameter peer: the client's address; one of a network of the documentation (RFC 5737), if it is not given.
    public func call(
        _ method: String, _ resource: String = "", _ body: JSON = [:], credentials: String? = nil, token: String? = nil,
        peer: String = "192.0.2.1"
    ) async -> Reply {
        await engine.handle(
            Call(
                method, resource: resource, body: body, peer: peer,
                credentials: credentials.flatMap { BearerToken($0) }, token: token.map { .one($0) }))
    }

    /// The bytes of a challenge.
    ///
    /// - Throws: `CallFailure` when the engine gives none.
    public func challenge(_ method: String, _ resource: String = app) async throws -> [UInt8] {
        let reply = try await call(method, resource).result.get()
        guard let bytes = reply["challenge"]?.string.flatMap({ Base64.decode($0) }) else {
            throw CallFailure(.internalError, "the reply of \(method) has no challenge")
        }
        return bytes
    }

    /// The record of a reply's decision.
    public func record(of reply: Reply) -> DecisionRecord? {
        sink.record(of: reply.decision)
    }
}
