import AssayCore
import AssayCrypto
import AssayDeviceCheck
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Testing

/// An engine with one app whose device tokens a simulated Apple judges, by a clock that stands still.
struct DeviceCheckScene: Sendable {
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let secondApp = "projects/example-project/apps/1:1234567890:ios:0000000000000002"
    static let backend = "backend-token-0123456789"
    static let administrator = "administrator-token-0123456789"
    static let stranger = "stranger-token-0123456789"

    let clock = ManualClock()
    let sink = RecordingSink()
    let team: SimulatedAppleTeam
    let apple: SimulatedAppleServer
    let engine: Engine

    /// - Parameters:
    ///   - section: further keys of the section `device_check`.
    ///   - http: what is called instead of the simulated Apple.
    ///   - before: what stands before the simulated Apple.
    init(
        _ section: String = "", http: (any OutboundHTTP)? = nil,
        before: (SimulatedAppleServer, ManualClock) -> any OutboundHTTP = { apple, _ in apple }
    ) throws {
        team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        apple = SimulatedAppleServer(
            authority: try SimulatedAppleCA(at: clock.now), teams: [team], form: .bearer, clock: clock.hostClock)
        engine = try Self.engine(
            Self.policy("device_check: {key_id: \(team.keyID), private_key: \"env:KEY\"\(section)}"),
            .provider(DeviceCheckProvider.self), team: team, clock: clock, sink: sink,
            http: http ?? before(apple, clock))
    }

    static func policy(
        _ provider: String, apple: String = "apple: {team_id: ABCDE12345, bundle_id: com.example.app}",
        permissions: [Permission] = [DeviceCheckProvider.readBits, DeviceCheckProvider.updateBits]
    ) -> String {
        let hash = { (text: String) in Hex.encode(SHA256.hash(Array(text.utf8))) }
        return """
            callers:
              backend: {sha256: \(hash(backend)), permissions: [\(permissions.map { "\($0)" }.joined(separator: ", "))]}
              administrator: {sha256: \(hash(administrator)), permissions: [admin]}
              stranger: {sha256: \(hash(stranger)), permissions: [appCheckTokens.verify]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    \(apple)
                    providers: {\(provider)}
                  - id: 1:1234567890:ios:0000000000000002
                    \(apple)
                    providers: {\(provider)}
            """
    }

    static func engine(
        _ policy: String, _ plugin: Plugin, team: SimulatedAppleTeam, clock: ManualClock,
        sink: RecordingSink = RecordingSink(), http: any OutboundHTTP = NoOutboundHTTP()
    ) throws -> Engine {
        let pem = Array(team.privateKeyPEM.utf8)
        return try Engine(
            registry: Registry([plugin], administration: .api),
            policies: .load([PolicyFile(name: "test.yaml", text: policy)]),
            keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
                secrets: SecretSource { _ in pem }, http: http,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), sink: sink)
    }

    static func token(
        _ device: String = "a", in environment: SimulatedEnvironment = .production, number: Int = 0
    ) -> JSON {
        .string(SimulatedAppleServer.deviceToken(of: device, in: environment, number: number))
    }

    func exchange(
        _ token: JSON = token(), for app: String = app, from peer: String? = nil
    ) async -> Result<JSON, CallFailure> {
        await engine.handle(
            Call("exchangeDeviceCheckToken", resource: app, body: ["device_token": token], peer: peer)
        ).result
    }

    /// The same; whatever it waits for comes at once.
    func exchangeWithoutWaiting(_ token: JSON = token()) async -> Result<JSON, CallFailure> {
        await withTaskGroup(of: Result<JSON, CallFailure>?.self) { group in
            group.addTask { await exchange(token) }
            group.addTask {
                // One sleeps for the deadline of the call as a whole, which must not come.
                while true {
                    await clock.waitForSleepers(2)
                    guard !Task.isCancelled else { return nil }
                    clock.advance(by: .milliseconds(100))
                    await Task.yield()
                }
            }
            defer { group.cancelAll() }
            return await group.next().flatMap { $0 } ?? .failure(CallFailure(.unimplemented, "no answer"))
        }
    }

    func update(_ body: JSON, as caller: String? = backend) async -> Result<JSON, CallFailure> {
        let call = Call(
            "updateDeviceCheckBits", resource: Self.app, body: body, credentials: caller.flatMap { BearerToken($0) })
        return await engine.handle(call).result
    }

    func read(_ body: JSON, as caller: String? = backend) async -> Result<JSON, CallFailure> {
        let call = Call(
            "readDeviceCheckBits", resource: Self.app, body: body, credentials: caller.flatMap { BearerToken($0) })
        return await engine.handle(call).result
    }

    /// The paths of what was asked, in its order.
    var questions: [String] { apple.requests.map(\.url.path) }
}

extension Result where Failure == CallFailure {
    var failure: CallFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
