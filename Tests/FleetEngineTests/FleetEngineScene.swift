import AssayCore
import AssayEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import AssayYAML
import Logging
import Synchronization

@testable import AssayFleetEngine

/// A consumer with a section, called as the kernel does, by a clock that stands still.
struct FleetEngineScene: Sendable {
    static let app = AppIdentity(
        resource: "projects/1234567890/apps/1:1234567890:ios:321abc456def7890", kind: .app, project: project,
        subject: "1:1234567890:ios:321abc456def7890")
    static let project = ProjectIdentity(number: "1234567890", id: "example-project")
    static let callback = "callback: {url: \"https://backend.example.com/fleet\", token: \"env:CALLBACK\"}"

    let clock = ManualClock()
    let http: ScriptedHTTP
    let counts = Counts()
    let consumer: FleetEngineConsumer
    private let host: PluginHost

    /// - Parameter section: in YAML; `account` is there already.
    init(
        _ section: String, account: String? = "env:FLEET", knowsActors: Bool = true,
        answers: [ScriptedHTTP.Answer] = []
    ) throws {
        http = ScriptedHTTP(answers)
        let secrets = [
            "env:FLEET": try TestAccounts.standard.get().bytes(), "env:SERVER": try TestAccounts.other.get().bytes(),
            "env:CALLBACK": Array("callback-0123456789".utf8), "env:NO_TOKEN": Array("two words".utf8),
            "env:NO_FILE": Array("{}".utf8),
        ]
        let counts = counts
        host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            secrets: SecretSource { secrets[$0.description] }, http: http, logger: .silent,
            meter: Meter { _, metric, _, labels in counts.add("\(metric.name) \(labels.joined(separator: " "))") })
        let text = (account.map { "account: \"\($0)\"\n" } ?? "") + section
        let configuration = try YAMLDecoder().decode(
            FleetEngineConfiguration.self, from: YAMLDocument.parse(Array(text.utf8), file: "test.yaml"))
        consumer = try FleetEngineConsumer(
            configuration,
            scope: ConsumerScope(
                project: Self.project, issuer: "https://example.com/", apps: [Self.app], knowsActors: knowsActors),
            host: host)
    }

    /// - Parameter user: the claims of the user's JWT; nil for no user.
    func context(
        _ user: JSON?, time: Duration = .seconds(10), token id: String = "token-1", peer: String? = nil
    ) -> ConsumerContext {
        let actor = user.map {
            VerifiedActor(issuer: "https://login.example.com/", subject: "user-1", claims: $0)
        }
        let token = VerifiedToken(
            subject: Self.app.subject, audience: ["projects/1234567890"], provider: "app_attest",
            issuer: "https://example.com/1234567890", expires: clock.now + .seconds(3600), issued: clock.now,
            id: id)
        return ConsumerContext(
            decision: DecisionID(text: "01ARZ3NDEKTSV4RRFFQ69G5FAV"), project: Self.project, token: token,
            app: Self.app, actor: actor, deadline: clock.now + time, peer: peer, now: clock.now,
            state: StateSpace("fleet_engine", in: host.store), pluginState: StateSpace("fleet_engine", in: host.store),
            tokens: NoTokens(), logger: .silent)
    }

    func token(
        _ role: FleetEngineRole, _ ids: [FleetEngineEntity: [String]] = [:], by user: JSON? = nil,
        time: Duration = .seconds(10), token id: String = "token-1", peer: String? = nil
    ) async throws -> FleetEngineConsumer.Outcome {
        let ids = ids.mapValues { $0.compactMap { FleetEngineID($0) } }
        return try await consumer.token(
            try FleetEngineClaims(role, ids), context(user, time: time, token: id, peer: peer))
    }

    /// Calls a path that sample apps call, by its method's name.
    func open(_ name: String, _ fields: JSON = [:], by user: JSON? = nil) async throws -> ConsumerVerdict {
        guard let method = FleetEngineConsumer.methods.first(where: { $0.descriptor?.name == name }),
            case .answer(let prepare) = method.action
        else { throw InvalidRequest("there is no method \(name)") }
        return try await prepare(consumer, RequestFields(fields)).answer(context(user))
    }

    func exchange(
        scope: [String] = [], resources: [String] = [], type: TokenType? = nil, by user: JSON? = nil
    ) async throws -> ExchangeVerdict {
        for method in FleetEngineConsumer.methods {
            guard case .exchange(let handler) = method.action else { continue }
            return try await handler(
                consumer,
                TokenExchangeRequest(
                    audience: consumer.audiences.first ?? "", resources: resources, scopes: scope, requestedType: type,
                    fields: RequestFields([:])), context(user))
        }
        throw InvalidRequest("there is no exchange")
    }
}

/// What was counted, by the metric's name and its labels.
final class Counts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func add(_ name: String) {
        counts.withLock { $0[name, default: 0] += 1 }
    }

    subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
}

extension Logger {
    static var silent: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }
}

extension FleetEngineConsumer.Outcome {
    var token: FleetEngineToken? {
        if case .granted(let token, _) = self { token } else { nil }
    }

    var facts: [Fact] {
        if case .granted(_, let facts) = self { facts } else { [] }
    }

    var reason: Reason? {
        if case .refused(let reason, _) = self { reason } else { nil }
    }
}
