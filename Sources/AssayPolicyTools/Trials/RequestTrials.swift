internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import AssayYAML
internal import Logging

/// A request of a proxy's client, and the token that it has.
struct RequestOrder: Sendable {
    /// A token of an app, issued without evidence.
    struct Token: Sendable {
        let subject: Subject
        let isLimitedUse: Bool
        let age: Duration
    }

    let request: ProxiedCall
    /// Nil for a request without one.
    let token: Token?
}

/// Has an engine decide about requests of a proxy's clients, as a server would: with the state in memory, and without secrets.
struct RequestTrials: Sendable {
    private let engine: Engine
    private let records = LastRecords()
    private let clock: TrialClock
    private let registry: Registry
    /// The names that proxies may ask by.
    private let backends: [String]
    /// No token is older.
    private static let longestAge = TokenLifetime.range.upperBound

    /// - Throws: the problems of the policies.
    init(_ tested: TestedPolicies, now: Instant) async throws {
        clock = TrialClock(now - Self.longestAge - .seconds(3600))
        registry = tested.registry
        var host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        host.secrets = .withholding(WithheldSecrets())
        let bound = try BoundPolicies(tested.policies, registry: registry, host: host, following: nil)
        backends = bound.backendNames
        engine = try Engine(
            registry: registry, bound: bound, keys: .ephemeral(), host: host, sink: records,
            options: Engine.Options(timeLimit: .seconds(300)))
        // The state is older than every token: none counts as used before it.
        _ = await engine.handle(Call("", resource: ""))
        clock.pass(Self.longestAge + .seconds(3600))
    }

    func run(_ order: RequestOrder) async -> DeviceTrials.Run {
        guard let explained = order.request.call(in: registry, on: "") else {
            return .notRun("this program has no method that decides about requests of a proxy")
        }
        var token: PresentedToken?
        if let wanted = order.token {
            let issued = try? engine.trialToken(
                for: wanted.subject.app.identity.resource, by: wanted.subject.provider.name,
                limitedUse: wanted.isLimitedUse, issued: clock.hostClock.now - wanted.age)
            guard let issued else { return .notRun("no token could be made") }
            token = .one(issued)
        }
        let reply = await engine.handle(Call(explained.method, body: explained.fields, token: token))
        var finding = PolicyFinding()
        switch (reply.result, records.last?.outcome) {
        case (.success, _): finding.verdict = .accepted
        case (.failure, .refused(KernelReasons.consumerUnknown)?):
            // A misspelled backend would be a test that passes.
            let hint = order.request.backend.flatMap { Spelling.hint(for: $0, among: backends) }
            return .notRun([records.last?.detail, hint].compactMap(\.self).joined(separator: "; "))
        case (.failure, .refused(let reason)?):
            finding.verdict = .refused
            finding.reason = reason
        case (.failure(let failure), _): return .notRun(failure.detail ?? failure.message)
        }
        finding.detail = records.last?.detail
        return .finding(finding, facts: nil)
    }
}
