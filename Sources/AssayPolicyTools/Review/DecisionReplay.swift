public import AssayCore
public import AssayEngine
internal import AssayKit
public import AssayPolicy
public import AssayYAML

/// Says which recorded decisions would come out differently under other policies.
///
///     var replay = try DecisionReplay(from: (present, registry), to: (next, registry))
///     for line in lines { replay.read(line) }
///     print(replay.result.changed)
///
/// What records tell is judged: whether there is the app, its provider and the caller, the caller's permissions, rules over the facts, the level of
/// services, and the demand of consumers. Evidence and tokens are not recorded and cannot be judged again.
public struct DecisionReplay {
    /// Decisions that would change in the same way.
    public struct Group: Sendable, Hashable {
        /// The app, the OAuth client, the project or the service; empty where no set of policies has it.
        @Exact public fileprivate(set) var resource: String
        /// The method.
        @Exact public fileprivate(set) var method: String
        /// The recorded outcome with its cause, such as `refused rule_refused`.
        @Exact public fileprivate(set) var old: String
        /// The outcome under the new policies; ``passes`` where a refusal would not take place, and what would follow is unknown, and
        /// with ``unlessDenied`` where entries of the deny list that administrators added could decide.
        @Exact public fileprivate(set) var new: String
        /// The rule that makes the difference: that of the new policies, or the recorded one; nil for none.
        @Exact public fileprivate(set) var rule: String?
    }

    /// How many decisions are in a group, with the identifiers of the first five.
    public struct Count: Sendable {
        /// How many there are.
        public fileprivate(set) var count = 0
        /// The identifiers of the first ones.
        @Exact public fileprivate(set) var examples: [String] = []

        fileprivate mutating func add(_ id: String) {
            count += 1
            if examples.count < 5 { examples.append(String(decoding: id.utf8.prefix(64), as: UTF8.self)) }
        }
    }

    /// The new outcome of a request that is no longer stopped, and whose further course is unknown.
    public static let passes = "passes this check"

    /// The end of a new outcome of evidence or a token that an entry of the files refused: what else administrators deny is in no file.
    public static let unlessDenied = ", unless the server's own deny list refuses it"

    private let old: PolicyView
    private let new: PolicyView
    private let differences: PolicyDifferences
    private var settings: [Settings: Bool] = [:]
    private var report = ReplayReport()
    private var groups: [Group: Count] = [:]

    private static let groupLimit = 10_000

    private struct Settings: Hashable {
        let resource: ExactText
        let plugin: ExactText
        let service: ExactText?
    }

    /// Compares two sets, each as `Registry.effective(_:)` makes it.
    ///
    /// - Throws: the problems of the policies.
    public init(
        from old: (policies: PolicySet, registry: Registry), to new: (policies: PolicySet, registry: Registry)
    ) throws(Diagnostics) {
        self.old = try PolicyView(old.policies, registry: old.registry)
        self.new = try PolicyView(new.policies, registry: new.registry)
        differences = PolicyDifferences(from: self.old, to: self.new)
    }

    /// What was found so far, with the largest groups first.
    public var result: ReplayReport {
        var result = report
        result.changed = groups.sorted { left, right in
            if left.value.count != right.value.count { return left.value.count > right.value.count }
            return left.key.order.lexicographicallyPrecedes(right.key.order)
        }.map { ($0.key, $0.value) }
        return result
    }

    /// Reads one line of an audit file, without its end.
    ///
    /// - Parameter place: the file and the number of the line, for the first one that is malformed.
    public mutating func read(_ line: ArraySlice<UInt8>, at place: @autoclosure () -> String = "") {
        report.lines += 1
        switch RecordedDecision.read(line) {
        case .malformed:
            if report.malformed == 0 { report.firstMalformed = place() }
            report.malformed += 1
        case .event: report.events += 1
        case .sum(let count):
            report.sums += 1
            report.summed = report.summed.addingReportingOverflow(max(0, count)).partialValue
        case .decision(let decision): judge(decision)
        }
    }

    private mutating func judge(_ recorded: RecordedDecision) {
        report.decisions += 1
        let decision = old.namingList(recorded)
        if decision.outcome.isExactly("error") { return leaveOut("no decision was made: a fault or an overload") }
        if let reason = decision.reason, reason.isExactly(KernelReasons.rateLimited.code), limitDiffers(decision) {
            return leaveOut("the rate limit differs")
        }
        let ending = decision.ending
        let issuer = old.issuer(of: decision)
        let before = old.judge(decision, tokenIssuer: issuer)
        guard isConsistent(before, decision) else {
            report.otherPolicies += 1
            return
        }
        // Another project may have the other one.
        if mayNameNoConsumer(decision) {
            return leaveOut("the record does not say whether the request named its consumer")
        }
        // The same policies decide the same, whatever is not known.
        guard differences.concern(decision) else {
            report.same += 1
            return
        }
        if let name = decision.caller, new.callers[name] != nil, differences.credentials.contains(name) {
            return leaveOut("the credentials of the caller differ")
        }
        let demands = old.demands(of: decision, tokenIssuer: issuer, isAlike: !settingsDiffer(decision))
        switch new.judge(decision, tokenIssuer: issuer, after: demands) {
        case .unknown(let why):
            // What decides it is the same.
            let isSame =
                why.isExactly(PolicyView.noCredentials) && !differences.callers
                || why.isExactly(PolicyView.noConsumer) && !differences.consumers
                    && !differences.concernCaller(of: decision)
            if isSame { report.same += 1 } else { leaveOut(why) }
        case .ends(let outcome, let rule):
            if PolicyView.followsEvidence(outcome), settingsDiffer(decision) {
                leaveOut("the provider's settings differ, and evidence is not recorded")
            } else if outcome.isExactly(ending) {
                report.same += 1
            } else {
                let end = decision.isDeniedByFiles && !outcome.starts(withExactly: "rejected ") ? Self.unlessDenied : ""
                add(decision, ending, outcome + end, rule: rule ?? decision.rule)
            }
        case .passes:
            if wasStopped(decision, before) {
                add(decision, ending, Self.passes + (decision.isDeniedByFiles ? Self.unlessDenied : ""), rule: nil)
            } else if settingsDiffer(decision) {
                leaveOut("settings of the plugin differ, and evidence and tokens are not recorded")
            } else if new.isAdministration(decision), differences.concernProject(of: decision) {
                leaveOut("the project differs, and what an administrator asked for is not recorded")
            } else if new.isQuestion(decision), differences.concernTokens(of: decision) {
                leaveOut("the project or the deny list differs, and what the consumer was asked is not recorded")
            } else {
                report.same += 1
            }
        }
    }

    /// Whether the old policies ended a recorded request: so they say, or it was refused for its token, of which they do not say all.
    private func wasStopped(_ decision: RecordedDecision, _ judgement: PolicyView.Judgement) -> Bool {
        if case .ends = judgement { return true }
        return decision.reason.map(KernelReasons.isAboutToken) ?? false
    }

    /// Whether the old policies could have led to what is on record.
    private func isConsistent(_ judgement: PolicyView.Judgement, _ decision: RecordedDecision) -> Bool {
        let ending = decision.ending
        switch judgement {
        case .unknown: return true
        case .ends(let outcome, let rule):
            guard outcome.isExactly(ending), rule.isExactly(decision.rule) else { return false }
            guard let level = decision.tokenUse?["enforcement"]?.string, let stated = old.level(of: decision) else {
                return true
            }
            return level.isExactly(stated.rawValue)
        case .passes:
            // Providers say nothing of the kind before a token is issued.
            guard case .provider? = old.registry.routes[decision.method]?.target, decision.caller.isNil else {
                return true
            }
            return !["rejected NOT_FOUND", "rejected FAILED_PRECONDITION"].contains(exactly: ending)
        }
    }

    private mutating func leaveOut(_ why: String) { report.notJudged[why, default: 0] += 1 }

    private mutating func add(_ decision: RecordedDecision, _ old: String, _ new: String, rule: String?) {
        report.changedCount += 1
        let isKnown = self.old.names(decision) || self.new.names(decision)
        let group = Group(
            resource: isKnown ? decision.resource : "", method: decision.method, old: old, new: new, rule: rule)
        guard groups[group] != nil || groups.count < Self.groupLimit else {
            report.ungrouped += 1
            return
        }
        groups[group, default: Count()].add(decision.id)
    }

    /// Whether evidence or tokens are judged by other settings than before; computed once for each app and plugin.
    private mutating func settingsDiffer(_ decision: RecordedDecision) -> Bool {
        let plugin = old.plugin(of: decision) ?? ""
        let service = decision.service
        let key = Settings(
            resource: ExactText(decision.resource), plugin: ExactText(plugin), service: service.map { ExactText($0) })
        if let known = settings[key] { return known }
        let differs: Bool
        switch (old.bound.find(decision.resource), new.bound.find(decision.resource)) {
        case (.app(let left)?, .app(let right)?):
            if let before = old.apps[left.identity.resource], let after = new.apps[right.identity.resource] {
                differs = SettingsComparison.differ(before, after, provider: plugin)
            } else {
                differs = true
            }
        case (.project(let left)?, .project(let right)?):
            if let before = old.settings(of: plugin, for: service, in: left),
                let after = new.settings(of: plugin, for: service, in: right)
            {
                differs = before.differ(from: after)
            } else {
                differs = true
            }
        case (nil, nil): return false
        default: differs = true
        }
        // A consumer's name is that of the record.
        if settings.count >= Self.groupLimit { settings.removeAll() }
        settings[key] = differs
        return differs
    }

    /// Whether a request may have named no consumer because there was only one, and now is for another one, or must name one.
    private func mayNameNoConsumer(_ decision: RecordedDecision) -> Bool {
        guard let before = old.unnamedConsumer(of: decision) else { return false }
        return new.unnamedConsumer(of: decision) != before
    }

    private func limitDiffers(_ decision: RecordedDecision) -> Bool {
        guard let left = old.app(of: decision), let right = new.app(of: decision) else { return true }
        return left.rateLimit != right.rateLimit
    }
}

extension DecisionReplay.Group {
    fileprivate var order: [ExactText] { [resource, method, old, new, rule ?? ""].map { ExactText($0) } }
}

extension RecordedDecision {
    /// Whether an entry of the files refused the evidence or the token; entries that administrators added to a server were not asked then.
    var isDeniedByFiles: Bool {
        [KernelReasons.evidenceDenied, KernelReasons.tokenDenied].contains(where: isRefused)
            && denyList.isExactly(DenialSource.policies.rawValue)
    }
}

extension PolicyView {
    /// The same decision with the list that refused its token, which records do not tell: that of the files, where they name the token.
    fileprivate func namingList(_ decision: RecordedDecision) -> RecordedDecision {
        guard decision.isRefused(KernelReasons.tokenDenied), let id = decision.fact(.tokenID),
            let subject = decision.fact(.app) ?? decision.tokenUse?["app"]?.string,
            let app = project(of: decision)?.apps[ExactText(subject)],
            case .denied = denial(ofToken: id, app: app, at: decision.time ?? now)
        else { return decision }
        var decision = decision
        decision.denyList = DenialSource.policies.rawValue
        return decision
    }

    /// Whether a recorded request is one to change, or to show, what a project's policy allows administrators to change.
    fileprivate func isAdministration(_ decision: RecordedDecision) -> Bool {
        guard let route = registry.routes[decision.method], case .kernel = route.target else { return false }
        return route.permission == .admin || route.permission == .denyList
    }

    /// Whether a recorded request was one to a consumer that shows no token to be judged: its answer may be about one.
    fileprivate func isQuestion(_ decision: RecordedDecision) -> Bool {
        guard case .consumer(let plugin)? = registry.routes[decision.method]?.target else { return false }
        return plugin.methods.contains { $0.name.isExactly(decision.method) && !$0.takesToken }
    }

    /// The consumers that a recorded request may have been for, if it named none, and what tells them apart; nil where it named one.
    fileprivate func unnamedConsumer(of decision: RecordedDecision) -> [ExactText]? {
        guard case .consumer(let plugin)? = registry.routes[decision.method]?.target,
            let selection = plugin.selections[decision.method]
        else { return nil }
        let all = bound.consumers.all(plugin.descriptor.name)
        switch selection {
        case .audience(let field):
            guard all.count == 1, let consumer = all.first, consumer.instance.audiences.count <= 1,
                decision.route?.utf8.contains("{\(field)}".utf8) != true
            else { return nil }
            return ([consumer.project.identity.number] + consumer.instance.audiences).map { ExactText($0) }
        case .section(let field, _):
            guard decision.route?.utf8.contains("{\(field)}".utf8) != true else { return nil }
            let caller = decision.caller.flatMap { callers[$0]?.caller }
            return all.map(\.project).filter { caller?.mayAct(in: $0.identity) ?? true }
                .map { "\($0.identity.number) \($0.issuer)" }.sortedExactly().map { ExactText($0) }
        case .resource, .tokenProject: return nil
        }
    }

    /// The plugin that judged a recorded request.
    fileprivate func plugin(of decision: RecordedDecision) -> String? {
        switch registry.routes[decision.method]?.target {
        case .consumer(let plugin)?: plugin.descriptor.name
        case .tokenExchange?: decision.facts.first { $0.name.isExactly(FactName.consumer.text) }?.value.string
        case .provider?: registry.routes[decision.method]?.provider
        case .kernel?, .keySet?, nil: nil
        }
    }

    /// What a consumer is told besides what it demands of tokens: that is judged for each request.
    ///
    /// - Parameter service: the service that a request was for; nil for all.
    fileprivate func settings(
        of consumer: String, for service: String?, in project: ProjectBinding
    ) -> SettingsComparison.ConsumerSettings? {
        guard let policy = policy(of: project) else { return nil }
        let tokens = ConfigurationError.Component.key(ConsumerKeys.tokens)
        var compared: Set<[ConfigurationError.Component]> = [[tokens]]
        for part in bound.consumers.byProject[project.name]?[consumer]?.instance.demands ?? [] where !part.path.isEmpty
        {
            let isOther = service.map { !$0.isExactly(part.service) } ?? false
            compared.insert(!isOther && (part.part.isNil || part.refusal != nil) ? part.path + [tokens] : part.path)
        }
        return SettingsComparison.ConsumerSettings(of: consumer, in: policy, without: compared)
    }

    /// The level of the service that a recorded request was for; nil where it is not fixed.
    fileprivate func level(of decision: RecordedDecision) -> EnforcementMode? {
        let parts = decision.resource.split(onASCII: "/")
        guard decision.method.isExactly(RecordedDecision.protection), parts.count == 4,
            let project = bound.projects["projects/\(parts[1])"]
        else {
            return nil
        }
        return bound.services(of: project)[String(parts[3])].map { $0.isEditable ? nil : $0.levels.enforcement } ?? .off
    }

    /// Whether the policies have the resource of a recorded request.
    fileprivate func names(_ decision: RecordedDecision) -> Bool {
        if bound.find(decision.resource) != nil { return true }
        let parts = decision.resource.split(onASCII: "/")
        guard parts.count == 4, let project = bound.projects["projects/\(parts[1])"] else { return false }
        return bound.services(of: project)[String(parts[3])] != nil
    }

    /// The `iss` of the tokens of the project that a recorded request is about.
    fileprivate func issuer(of decision: RecordedDecision) -> String? { project(of: decision)?.issuer }

    /// The app that a recorded request is about, or whose token it had.
    fileprivate func app(of decision: RecordedDecision) -> AppPolicy? {
        switch bound.find(decision.resource) {
        case .app(let app)?: apps[app.identity.resource]
        case .project(let project)?:
            decision.fact(.app).flatMap { project.apps[$0] }.flatMap { apps[$0.identity.resource] }
        case nil: nil
        }
    }
}
