public import AssayCore
public import AssayEngine
public import AssayKit
public import AssayPolicy
public import AssayYAML
public import Logging

/// Judges captured evidence again, offline: with this program's plugins and with any policies, at the time of the request.
///
/// The provider sees what it saw then: the time, the challenge, what the state answered and what it opened. It has no
/// network. What it needs and does not have makes the evidence *not judged*; a write to the state that was not made then
/// is taken to succeed, which the result says.
///
/// What only the service knows is not judged: whether the challenge was valid, and rate limits.
public struct EvidenceReplay: Sendable {
    private static let timeLimit = Duration.seconds(10)

    private let policies: BoundPolicies
    private let host: PluginHost
    private let stage: ReplayEnvironment
    private let deadlines: DeadlineQueue

    /// Binds policies.
    ///
    /// - Parameters:
    ///   - secrets: where the secrets are that the policies refer to.
    ///   - logger: what plugins write to; by default, nothing is written.
    /// - Throws: the errors of the policies.
    public init(
        _ policies: PolicySet, registry: Registry, secrets: SecretSource = .system,
        logger: Logger = Logger(label: "replay", factory: { _ in SwiftLogNoOpLogHandler() })
    ) throws(Diagnostics) {
        stage = ReplayEnvironment()
        host = PluginHost(
            clock: stage.clock, store: ReplayStore(stage: stage), secrets: secrets, http: ReplayHTTP(stage: stage),
            logger: logger)
        self.policies = try BoundPolicies(policies, registry: registry, host: host, following: nil)
        deadlines = DeadlineQueue(stage.clock)
    }

    /// The revision of the policies.
    public var revision: String { "\(policies.revision)" }

    /// The app that evidence is of, as the policies have it now; nil when they do not have it.
    public func app(of evidence: CapturedEvidence) -> AppIdentity? {
        guard case .app(let app)? = policies.find(evidence.resource) else { return nil }
        return app.identity
    }

    /// Judges one piece of evidence.
    ///
    /// Call it for one after the other: they share a clock.
    public func judge(_ evidence: CapturedEvidence) async -> ReplayedDecision {
        guard !evidence.leftOut.contains(.body) else {
            return .notJudged("the record has no request message: it was larger than `max_evidence`")
        }
        if let reason = evidence.reason, KernelReasons.challenges.contains(where: { $0.code.isExactly(reason) }) {
            return .notJudged("the challenge was refused, and only the service itself can judge challenges")
        }
        guard case .app(let app)? = policies.find(evidence.resource), let method = app.methods[evidence.method],
            method.descriptor.resources.contains(app.identity.kind)
        else {
            return ReplayedDecision(.rejected, detail: "the policies have no such app with this method")
        }
        guard case .exchange(let prepare) = method.action else {
            return .notJudged("the method \(method.descriptor.name) does not exchange evidence")
        }
        stage.begin(evidence, method.provider)
        defer { stage.end() }
        do {
            let fields = try method.fields(of: evidence.body)
            let prepared = try prepare(fields)
            let verdict = try await appraise(prepared, method.provider, app, evidence)
            if let gap = stage.gap { return .notJudged(gap) }
            if evidence.leftOut.contains(.state), !stage.assumptions.isEmpty {
                return .notJudged("the record has only a part of what the state answered")
            }
            if let fault = method.provider.pluginGuard.fault(in: verdict) {
                return .notJudged("the provider breaks its contract: \(fault)")
            }
            let counted = method.provider.pluginGuard.recordable(verdict)
            let decision = decision(counted, of: method.provider, app)
            return evidence.wasDeniedByServer && decision.passesDenials ? .notJudged(Denials.notInFiles) : decision
        } catch let error as InvalidRequest {
            return ReplayedDecision(.rejected, detail: error.message)
        } catch {
            if let gap = stage.gap { return .notJudged(gap) }
            if let failure = error as? CallFailure, let reason = failure.reason {
                return ReplayedDecision(.refused(reason), detail: failure.detail)
            }
            return .notJudged("the provider could not decide: \(SafeText.of("\(error)"))")
        }
    }

    private func appraise(
        _ prepared: PreparedExchange, _ provider: ProviderBinding, _ app: AppBinding, _ evidence: CapturedEvidence
    ) async throws -> Verdict {
        let stage = stage
        let context = ProviderContext(
            decision: evidence.decision, app: app.identity, challenge: prepared.challenge,
            deadline: evidence.time + Self.timeLimit, peer: nil, now: evidence.time,
            state: space(provider.space, provider), appState: space(provider.appSpace, provider),
            pluginState: space(provider.descriptor.name, provider),
            // What is sealed goes to no client.
            sealer: Sealer(seal: { $0 }, open: { stage.open($0) }), logger: host.logger, clock: host.clock,
            wasVerified: { _ in true })
        return try await provider.pluginGuard.run(
            PluginGuard.Entry(host: host, deadlines: deadlines, breaker: nil, timeLeft: Self.timeLimit)
        ) {
            let verdict = try await prepared.appraise(context)
            guard case .verified(let appraisal) = verdict else { return verdict }
            return try await appraisal.settled(in: provider.store, isLive: false)
        }
    }

    /// A namespace in which nothing is older than the state: whether evidence was used is no question here.
    private func space(_ name: String, _ provider: ProviderBinding) -> StateSpace {
        StateSpace(name, in: provider.store, since: Instant(milliseconds: .min))
    }

    private func decision(_ verdict: Verdict, of provider: ProviderBinding, _ app: AppBinding) -> ReplayedDecision {
        let name = provider.descriptor.name
        var decision: ReplayedDecision
        switch verdict {
        case .refused(let reason, let detail, let facts):
            decision = ReplayedDecision(.refused(reason), detail: detail, facts: facts)
        case .verified(let appraisal):
            let judgement = Denials(policies: policies.denials).judge(
                appraisal.facts, of: app.identity, by: name, rules: app.rules[ExactText(name)], at: stage.clock.now)
            decision = ReplayedDecision(
                judgement.refusal.map { .refused($0.reason) } ?? .issued, detail: judgement.refusal?.detail,
                facts: appraisal.facts)
            decision.rule = judgement.rule?.name
        }
        decision.assumptions = stage.assumptions
        return decision
    }
}

extension CapturedEvidence {
    /// Whether an entry refused it that no file of the policies has.
    fileprivate var wasDeniedByServer: Bool {
        reason.isExactly(KernelReasons.evidenceDenied.code) && denial != .policies
    }
}

extension ReplayedDecision {
    /// Whether nothing before the server's own deny list refuses it.
    fileprivate var passesDenials: Bool { finding == .issued || finding == .refused(KernelReasons.ruleRefused) }
}

/// What came out when captured evidence was judged again.
public struct ReplayedDecision: Sendable {
    /// The ways in which it ends.
    @nonexhaustive public enum Finding: Sendable, Hashable {
        /// A token would be issued.
        case issued
        /// The evidence is refused.
        case refused(Reason)
        /// The request would not come to a provider: the policies have no such app or method, or it is malformed.
        case rejected
        /// It could not be judged offline; the detail says why.
        case notJudged
    }

    /// How it compares with what came out then.
    @nonexhaustive public enum Comparison: String, Sendable, Hashable, CaseIterable {
        case same
        case different
        case notJudged = "not_judged"
    }

    /// How it ends.
    public let finding: Finding
    /// An explanation for operators; nil when there is nothing to add.
    @Exact public private(set) var detail: String?
    /// The facts in the evidence.
    public let facts: [Fact]
    /// The rule of the policy that decided; nil for none.
    @Exact public var rule: String?
    /// What was taken to be so, because nobody knows: in words for operators.
    @Exact public var assumptions: [String]

    init(_ finding: Finding, detail: String? = nil, facts: [Fact] = []) {
        self.finding = finding
        self.facts = facts
        self.detail = detail
        rule = nil
        assumptions = []
    }

    static func notJudged(_ why: String) -> ReplayedDecision { ReplayedDecision(.notJudged, detail: why) }

    /// Whether the outcome, the reason and the rule are those of the evidence.
    public func comparison(with evidence: CapturedEvidence) -> Comparison {
        switch (finding, evidence.outcome) {
        case (.notJudged, _): .notJudged
        case (.issued, .issued): rule.isExactly(evidence.rule) ? .same : .different
        case (.refused(let now), .refused(let then)):
            now.code.isExactly(then.string) && rule.isExactly(evidence.rule) ? .same : .different
        default: .different
        }
    }
}
