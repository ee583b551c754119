internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import AssayYAML
internal import Logging
internal import Synchronization

/// Has simulated devices send their evidence to an engine that judges by the policies.
///
/// Each test has an engine of its own, with state in memory and a clock that stands still. The simulated authority takes the
/// place of the real one in the section of the provider, in memory and for this engine only.
struct DeviceTrials: Sendable {
    let tested: TestedPolicies
    /// The time of tests that name none.
    let now: Instant

    /// How a test ran.
    enum Run: Sendable {
        /// - Parameter facts: nil if rules were not asked.
        case finding(PolicyFinding, facts: [Fact]?)
        case notRun(String)

        /// Why there is no finding.
        var reason: String { if case .notRun(let reason) = self { reason } else { "" } }
    }

    /// So many settings are tried in one test.
    private static let settingLimit = 32

    func run(_ subject: Subject, _ order: DeviceOrder) async -> Run {
        await run(subject, order, section: subject.provider.section)
    }

    /// Which of the provider's settings matter in a test: without them it ends otherwise, or the reason of its refusal has
    /// their name, as `environment_not_allowed` has that of `environments`.
    func decisiveSettings(
        _ subject: Subject, _ order: DeviceOrder, _ finding: PolicyFinding
    ) async -> [(name: String, location: SourceLocation, isDecisive: Bool)] {
        var found: [(name: String, location: SourceLocation, isDecisive: Bool)] = []
        for (name, location) in subject.provider.section.keys.prefix(Self.settingLimit)
        where !name.isExactly("token_ttl") {
            if Self.isNamed(name, by: finding.reason) {
                found.append((name, location, true))
                continue
            }
            // A section that is wrong without a key needs the key in every test.
            let run = await run(subject, order, section: subject.provider.section.without(name))
            guard case .finding(let other, _) = run else { continue }
            let isSame =
                other.verdict == finding.verdict && other.reason == finding.reason && other.rule == finding.rule
                && other.wouldRefuse == finding.wouldRefuse && other.token?.lifetime == finding.token?.lifetime
            found.append((name, location, !isSame))
        }
        return found
    }

    /// Whether the code of a reason begins with the name of a setting, in the singular.
    private static func isNamed(_ setting: String, by reason: Reason?) -> Bool {
        guard let code = reason?.code else { return false }
        var forms = [setting]
        if setting.ends(withExactly: "ies") { forms.append("\(setting.dropLast(3))y") }
        if setting.ends(withExactly: "s") { forms.append(String(setting.dropLast())) }
        return forms.contains { code.isExactly($0) || code.starts(withExactly: "\($0)_") }
    }

    private func run(_ subject: Subject, _ order: DeviceOrder, section: PolicySection) async -> Run {
        guard let simulator = order.simulator else {
            return .notRun("this program has no simulated devices of the provider `\(subject.provider.name)`")
        }
        let session: EvidenceSession
        let missing = MissingSecrets()
        do {
            session = try simulator.begin(
                EvidenceOrder(
                    app: subject.app.identity, section: section.json, method: order.method, device: order.device,
                    changes: order.changes, now: order.time ?? now))
            let bench = try TrialHarness(
                tested, subject, section: try section.overlaid(by: session.overlay, of: simulator.provider), session,
                missing)
            return try await bench.run(subject, order, session)
        } catch let problems as Diagnostics {
            if let reference = missing.first { return .notRun("needs the secret \(reference)") }
            return .notRun("the policies cannot be used: \(problems.all.first?.description ?? "\(problems)")")
        } catch {
            return .notRun("the simulated device failed: \(error)")
        }
    }
}

extension PolicySection {
    /// The section with the keys of a simulator in the place of its own, also where others are tried: it makes evidence for these.
    fileprivate func overlaid(by overlay: JSON, of provider: String) throws(Diagnostics) -> PolicySection {
        let names = (overlay.members ?? []).map(\.name)
        return overlaid(by: try YAMLDocument.parse(overlay.encoded, file: "the simulator of \(provider)"))
            .withoutTried(names)
    }
}

/// The secrets that a test would need and has not.
private final class MissingSecrets: Sendable {
    private let references = Mutex<[SecretReference]>([])

    var first: SecretReference? { references.withLock { $0.first } }

    /// The same secrets, with a note of those that are missing.
    func watching(_ source: SecretSource) -> SecretSource {
        SecretSource { [self] (reference) throws(SecretError) in
            let found = try source.resolve(reference)
            if found == nil { references.withLock { $0.append(reference) } }
            return found
        }
    }
}

/// One engine with its surroundings.
private struct TrialHarness: Sendable {
    private let engine: Engine
    private let records: LastRecords
    private let clock: TrialClock

    init(
        _ tested: TestedPolicies, _ subject: Subject, section: PolicySection, _ session: EvidenceSession,
        _ missing: MissingSecrets
    ) throws {
        clock = TrialClock(session.start)
        records = LastRecords()
        let host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            secrets: missing.watching(session.secrets),
            http: SimulatedServers(session.upstream),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let provider = subject.provider.with(section)
        var bound = try BoundPolicies(
            tested.policies.narrowed(to: subject.app, by: provider), registry: tested.registry, host: host,
            following: nil)
        // Rules may be about the facts of the app's other providers, which are not made here.
        for (name, app) in bound.apps {
            bound.apps[name] = AppBinding(
                subject.app, providers: app.providers, methods: app.methods,
                // The clock stands still: a limit would be reached by a device that is slow in truth.
                bucket: nil,
                rules: [ExactText(subject.provider.name): subject.rules], shadows: app.shadows)
        }
        // The verdict must not depend on how busy the machine is.
        engine = try Engine(
            registry: tested.registry, bound: bound, keys: .ephemeral(), host: host, sink: records,
            options: Engine.Options(timeLimit: .seconds(300)))
    }

    func run(_ subject: Subject, _ order: DeviceOrder, _ session: EvidenceSession) async throws -> DeviceTrials.Run {
        let (engine, clock, resource) = (engine, clock, subject.app.identity.resource)
        let calls = EvidenceCalls(
            call: { method, body in
                let reply = await engine.handle(Call(method, resource: resource, body: body, peer: Self.peer))
                switch reply.result {
                case .success(let message): return message
                case .failure(let failure):
                    let why = failure.reason?.code ?? failure.detail ?? failure.message
                    throw SimulatedCallRefused(description: "\(method) before it: \(why)")
                }
            }, pass: { clock.pass($0) })
        var body: JSON
        do {
            body = try await session.request(calls)
        } catch let refusal as SimulatedCallRefused {
            // A device that cannot attest its key cannot get a token either.
            guard let record = records.last, case .refused = record.outcome else { throw refusal }
            return .finding(finding(of: record, nil, subject, order), facts: facts(of: record))
        }
        if order.limitedUse { body = .object((body.members ?? []) + [JSONMember("limitedUse", true)]) }
        let reply = await engine.handle(Call(order.method, resource: resource, body: body, peer: Self.peer))
        guard let record = records.last else { return .notRun("nothing was recorded") }
        let message: JSON? = if case .success(let message) = reply.result { message } else { nil }
        return .finding(finding(of: record, message, subject, order), facts: facts(of: record))
    }

    /// From a network of the documentation (RFC 5737).
    private static let peer = "192.0.2.1"

    /// The facts of evidence that rules were asked about; nil if they were not.
    private func facts(of record: DecisionRecord) -> [Fact]? {
        switch record.outcome {
        case .issued: record.facts
        case .refused(let reason): reason == KernelReasons.ruleRefused ? record.facts : nil
        default: nil
        }
    }

    private func finding(
        of record: DecisionRecord, _ message: JSON?, _ subject: Subject, _ order: DeviceOrder
    ) -> PolicyFinding {
        var finding = PolicyFinding()
        finding.detail = record.detail
        switch record.outcome {
        case .issued(_, let limitedUse, _):
            finding.verdict = .accepted
            let token = message?["appCheckToken"] ?? message
            let lifetime = token?["ttl"]?.string.flatMap { Duration(protoJSON: $0) }
            finding.token = (token?["token"]?.string).flatMap {
                PolicyFinding.Token($0, lifetime: lifetime ?? .zero, isForLimitedUse: limitedUse)
            }
        case .refused(let reason):
            finding.verdict = .refused
            finding.reason = reason
        case .rejected(let status), .failed(let status):
            finding.detail = "\(status.rawValue)\(record.detail.map { ": \($0)" } ?? "")"
        case .challenged, .answered: break
        }
        let decided = record.rules.decided.flatMap { name in subject.app.rules.first { ExactText($0.name) == name } }
        finding.take(decided, record.rules)
        return finding
    }
}

/// Keeps the record of the last decision.
final class LastRecords: DecisionSink {
    private let kept = Mutex<DecisionRecord?>(nil)

    var last: DecisionRecord? { kept.withLock { $0 } }

    func record(_ record: DecisionRecord) {
        kept.withLock { $0 = record }
    }
}

/// A clock that stands still unless a simulated device lets time pass; waiting takes real time.
final class TrialClock: Sendable {
    private let start: Instant
    private let state: Mutex<Instant>

    init(_ start: Instant) {
        self.start = start
        state = Mutex(start)
    }

    func pass(_ duration: Duration) {
        state.withLock { $0 = $0 + duration }
    }

    private var now: Instant { state.withLock { $0 } }

    var hostClock: HostClock {
        let uptime = HostClock.system
        return HostClock(
            now: { self.now }, uptime: { self.now - self.start + uptime.uptime },
            sleep: { try await uptime.sleep(for: $0) })
    }
}

/// The other servers, which a simulator answers for.
private final class SimulatedServers: OutboundHTTP {
    private let answer: (@Sendable (OutboundRequest) async -> OutboundResponse)?

    init(_ answer: (@Sendable (OutboundRequest) async -> OutboundResponse)?) {
        self.answer = answer
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        guard let answer else { throw OutboundFailure(.noClient, "tests of policies call no other server") }
        return await answer(request)
    }
}
