import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import AssayYAML
@testable import AssayPolicyTools

/// What tools say of one request, compared with what the servers did.
extension Round {
    /// Asks both servers, compares what tools say, and returns the reply under the policies before.
    mutating func ask(_ request: Request) async -> JSON? {
        tally.requests += 1
        let answer = await old.answer(request)
        let other = await new?.answer(request)
        if request.isChange, let other, (answer.reply == nil) != (other.reply == nil) { haveStatesDiverged = true }
        guard let line = answer.line, let decision = Self.decision(line) else { return answer.reply }
        let now = (other?.line).flatMap { Self.decision($0) }
        compareReplay(line, decision, other?.line, now)
        compareIntrospection(line, answer.reply, other?.reply)
        compareExplanation(request, decision, answer.reply)
        if let evidence = answer.evidence { await compareEvidence(evidence, decision, now) }
        if request.evidence != nil { decided.append(Decided(line: line, decision: decision, other: now)) }
        return answer.reply
    }

    static func decision(_ line: [UInt8]) -> RecordedDecision? {
        if case .decision(let decision) = RecordedDecision.read(line[...]) { decision } else { nil }
    }

    // MARK: - policy diff --against

    private mutating func compareReplay(
        _ line: [UInt8], _ decision: RecordedDecision, _ other: [UInt8]?, _ now: RecordedDecision?
    ) {
        var replay = tools.same
        replay.read(line[...])
        let text = String(decoding: line, as: UTF8.self)
        let (before, after) = (before, after)
        tally.compare(.diff, replay.result.same == 1, "the same policies: \(replay.result.text)\n\(text)\n\(before)")
        guard let other, let now else { return }
        replay = tools.changed
        replay.read(line[...])
        let result = replay.result
        // What was used before depends on earlier requests, which the other policies judged otherwise.
        let uses = [KernelReasons.tokenReused, NotaryProvider.serialReused].map { "refused \($0.code)" }
        let isOfUses = decision.ending != now.ending && [decision.ending, now.ending].contains { uses.contains($0) }
        if haveStatesDiverged || isOfUses {
            tally.notJudged += 1
            return
        }
        let words = {
            "\(result.text), and the server: \(now.ending)\n\(text)\n\(String(decoding: other, as: UTF8.self))\n"
        }
        let sets = { "\(before)-- to --\n\(after)" }
        if decision.ending != now.ending { tally.different += 1 }
        // Records of tokens do not say which list refused them.
        let isDeniedByServer =
            now.denyList == DenialSource.server.rawValue || hasServerDenials && now.ending == "refused token_denied"
        if result.same == 1 {
            tally.compare(.diff, decision.ending == now.ending, words() + sets())
        } else if let group = result.changed.first?.group {
            tally.compare(
                .diff,
                group.new.hasSuffix(DecisionReplay.unlessDenied) && isDeniedByServer
                    || (group.new.hasPrefix(DecisionReplay.passes)
                        ? decision.ending != now.ending
                        : [now.ending, now.ending + DecisionReplay.unlessDenied].contains(group.new)),
                words() + sets())
        } else if result.notJudged.isEmpty {
            tally.compare(.diff, false, words() + sets())
        } else {
            tally.notJudged += 1
        }
    }

    /// What was said of a token is said again where the decision is called the same.
    private mutating func compareIntrospection(_ line: [UInt8], _ reply: JSON?, _ other: JSON?) {
        guard let isActive = reply?["active"]?.bool, let isActiveNow = other?["active"]?.bool else { return }
        var replay = tools.changed
        replay.read(line[...])
        let result = replay.result
        guard result.same == 1 else { return }
        let (before, after) = (before, after)
        tally.compare(
            .diff, isActive == isActiveNow,
            "\(result.text), and the token was \(isActive ? "" : "not ")active before, and is \(isActiveNow ? "" : "not ")now\n"
                + "\(String(decoding: line, as: UTF8.self))\n\(before)-- to --\n\(after)")
    }

    // MARK: - decisions replay

    private mutating func compareEvidence(
        _ evidence: CapturedEvidence, _ decision: RecordedDecision, _ now: RecordedDecision?
    ) async {
        let same = await tools.evidence.old.judge(evidence)
        let (before, after) = (before, after)
        let words = { (judged: ReplayedDecision, ending: String) in
            "\(judged.finding), rule \(judged.rule ?? "none"), \(judged.detail ?? ""), and the server: \(ending)\n"
                + "\(String(decoding: evidence.json.encoded, as: UTF8.self))\n"
        }
        switch same.comparison(with: evidence) {
        case .notJudged: tally.notJudged += 1
        case .same: tally.compare(.evidence, true, "")
        case .different: tally.compare(.evidence, false, words(same, decision.ending) + before)
        }
        guard let now, let replay = tools.evidence.new else { return }
        let judged = await replay.judge(evidence)
        // The other server has another state, and what administrators added to its deny list is in no file.
        guard judged.finding != .notJudged, judged.assumptions.isEmpty, evidence.state.isEmpty,
            now.denyList != DenialSource.server.rawValue
        else {
            tally.notJudged += 1
            return
        }
        let isTrue =
            switch judged.finding {
            case .issued: now.ending == "issued" && now.rule == judged.rule
            case .refused(let reason): now.ending == "refused \(reason.code)" && now.rule == judged.rule
            case .rejected: now.outcome == "rejected"
            case .notJudged: true
            }
        tally.compare(.evidence, isTrue, words(judged, now.ending) + after)
    }

    // MARK: - policy explain

    private mutating func compareExplanation(_ request: Request, _ decision: RecordedDecision, _ reply: JSON?) {
        if let protected = request.protected { return compareService(protected, request.token, decision, reply) }
        guard let call = request.call else { return }
        // It is not always told what the request names.
        let audience = values.random.happens(onceIn: 2) ? call.body["audience"] : nil
        var explained = ExplainedCall(
            call.method, on: call.resource, by: request.caller, fields: audience.map { ["audience": $0] } ?? [:])
        if let proxied = request.proxied {
            guard let found = ProxiedCall(proxied.line, to: proxied.backend)?.call(in: World.registry, on: "") else {
                return
            }
            explained = found
        }
        let before = before
        let explanation = tools.view.explain(explained)
        let steps = explanation.steps.map(\.text)
        let words =
            "\(explained):\n\(steps.joined(separator: "\n"))\nand the server: \(decision.ending)\n\(before)"
        // Without a known caller, it says who could call.
        if call.credentials != nil, request.caller == nil { return }
        if explanation.isStopped { return tally.compare(.explain, reply == nil, words) }
        // What administrators may not change is no matter of the steps.
        let isAdministration = ["updateService", "createResourcePolicy"].contains(call.method)
        let ends =
            ["PERMISSION_DENIED", "UNAUTHENTICATED"] + (isAdministration ? [] : ["NOT_FOUND", "FAILED_PRECONDITION"])
        let dependsOnProject = steps.contains { $0.contains("PERMISSION_DENIED for all else") }
        let isTold = dependsOnProject && decision.ending == "rejected PERMISSION_DENIED"
        tally.compare(.explain, isTold || !ends.contains { decision.ending == "rejected \($0)" }, words)
        if request.proxied?.backend != nil { compareDemand(request, steps, decision, reply, words) }
        if call.method == "verifyAppCheckToken" { compareToken(request, steps, decision, reply, words) }
        if request.evidence != nil { compareIssue(request, steps, decision, reply, words) }
    }

    /// What is said of evidence: which rule or entry can refuse it, and how long its token lives.
    private mutating func compareIssue(
        _ request: Request, _ steps: [String], _ decision: RecordedDecision, _ reply: JSON?, _ words: String
    ) {
        if let rule = decision.rule {
            tally.compare(.explain, steps.contains { $0.hasPrefix("rule \(rule): ") }, words)
        }
        if decision.denyList == DenialSource.policies.rawValue {
            tally.compare(.explain, steps.contains { $0.hasPrefix("deny ") }, words)
        }
        let lifetimes = steps.first { $0.hasPrefix("tokens live ") }?.dropFirst("tokens live ".count)
            .replacing(" ", with: "").split(separator: ",limited-usetokens")
        guard let ttl = reply?["ttl"]?.string, let lifetimes, lifetimes.count == 2,
            let session = RandomValues.seconds(String(lifetimes[0])),
            let limited = RandomValues.seconds(String(lifetimes[1]))
        else { return }
        tally.compare(
            .explain, ttl == "\(request.evidence?.isForLimitedUse == true ? limited : session)s", "\(ttl): \(words)")
    }

    /// What is said of a token that a caller shows.
    private mutating func compareToken(
        _ request: Request, _ steps: [String], _ decision: RecordedDecision, _ reply: JSON?, _ words: String
    ) {
        // A token that has ended, or whose issuer is another now, is not judged further.
        guard let token = request.token, isSound(token), let verdict = Self.verdict(of: token, steps) else { return }
        if let code = verdict.code {
            tally.compare(.explain, decision.ending == "refused \(code)" || isDenied(decision, steps), words)
        } else {
            tally.compare(.explain, reply != nil || isDenied(decision, steps), words)
        }
    }

    /// What is said of the request of a proxy's client.
    private mutating func compareDemand(
        _ request: Request, _ steps: [String], _ decision: RecordedDecision, _ reply: JSON?, _ words: String
    ) {
        let needsNone = steps.first { $0.contains("no token is needed") || $0.contains("no valid token is needed") }
        let demand = steps.first { $0.contains("a valid App Check token is needed") }
        if [needsNone, demand].contains(where: { $0?.contains("administrators may have set another level") == true }),
            wasEdited(decision, request.proxied?.backend)
        {
            tally.notJudged += 1
            return
        }
        if decision.ending == "refused token_reused", request.token?.isLimitedUse == false {
            tally.compare(.explain, demand?.contains("not used before") == true, words)
        }
        if needsNone != nil { return tally.compare(.explain, reply != nil, words) }
        guard let demand, let token = request.token else { return tally.compare(.explain, reply == nil, words) }
        // Policies do not name what is minted.
        if token.provider == "mint" { return }
        guard let verdict = Self.verdict(of: token, steps) else {
            return tally.compare(.explain, reply == nil, words)
        }
        if let code = verdict.code {
            guard isSound(token) else {
                return tally.compare(.explain, reply == nil, words)
            }
            tally.compare(.explain, decision.ending == "refused \(code)" || isDenied(decision, steps), words)
        } else if !token.wasShown, isSound(token), !demand.contains("limited use") || token.isLimitedUse,
            !demand.contains(" old"), !demand.contains("a proof")
        {
            tally.compare(.explain, reply != nil || isDenied(decision, steps), words)
        }
    }

    /// What is said of the tokens of an app at a service that asks for itself.
    private mutating func compareService(
        _ request: ProtectedRequest, _ token: Request.Token?, _ decision: RecordedDecision, _ reply: JSON?
    ) {
        guard let token, let method = ["notary": "exchangeNote", "sketch": "exchangeSketch"][token.provider],
            let step = tools.view.explain(ExplainedCall(method, on: token.resource)).steps.map(\.text).first(where: {
                $0.hasPrefix("service \(request.service) (")
            }),
            // A token of an app of another project is not meant.
            token.resource.hasPrefix("projects/\(request.project.dropFirst("project-".count))/"),
            !wasEdited(decision, request.service), isSound(token)
        else { return }
        let words = "\(step), and the server: \(decision.ending)\n\(before)"
        if step.contains("checks no tokens") || step.contains("(UNENFORCED)") {
            tally.compare(.explain, reply != nil, words)
        } else if step.contains("does not accept them"), let code = step.split(separator: " ").last {
            tally.compare(.explain, [" \(code)", " token_denied"].contains { decision.ending.hasSuffix($0) }, words)
        } else {
            let ends = ["token_denied", "token_reused"].map { "refused \($0)" }
            tally.compare(.explain, reply != nil || ends.contains(decision.ending), words)
        }
    }

    /// The step about tokens of an app by a provider; the code is that of the reason if they are refused.
    private static func verdict(of token: Request.Token, _ steps: [String]) -> (step: String, code: String?)? {
        guard let step = steps.first(where: { $0.contains("tokens of \(token.app) by \(token.provider): ") }) else {
            return nil
        }
        let isRefused = step.contains(": refused ") || step.contains(": would be refused ")
        return (step, isRefused ? step.split(separator: " ").last.map(String.init) : nil)
    }

    private func isDenied(_ decision: RecordedDecision, _ steps: [String]) -> Bool {
        decision.ending == "refused token_denied" && (hasServerDenials || steps.contains { $0.hasPrefix("deny ") })
    }

    private func wasEdited(_ decision: RecordedDecision, _ service: String?) -> Bool {
        let project = decision.resource.split(separator: "/").prefix(2).joined(separator: "/")
        guard let service else { return edited.contains { $0.hasPrefix("\(project)/") } }
        return edited.contains("\(project)/\(service)")
    }

    /// Whether a token has not ended, and is of the issuer that its project has now.
    private func isSound(_ token: Request.Token) -> Bool {
        guard let claims = Self.claims(token.text), let end = claims["exp"]?.integer, clock.now.seconds < end else {
            return false
        }
        let app = served.old.apps.first { $0.identity.resource == token.resource }
        return app.map { "\($0.issuerPrefix)\($0.identity.project.number)" } == claims["iss"]?.string
    }
}
