import AssayCore
import AssayEngine
import AssayServices
import AssayKit
import AssayPolicy
@testable import AssayPolicyTools
import AssayTestSupport
import AssayTesting
import AssayYAML
import Foundation
import Testing

/// What tools say of policies is compared with what an engine does: random policies, random requests, random changes.
///
/// `ASSAY_DIFFERENTIAL_SECONDS` says for how long (5 by default). `ASSAY_DIFFERENTIAL_SEED` is the seed of a run, or `random`; without it all
/// runs begin in the same way.
@Suite("What tools say, and what a server does")
struct DifferentialTests {
    /// What was compared, and where tools and the engine disagree.
    struct Tally {
        var policies = 0
        var invalid = 0
        var requests = 0
        var comparisons = 0
        var notJudged = 0
        var different = 0
        var disagreements: [String] = []
        /// Why sets of policies were refused.
        var problems: [String: Int] = [:]

        mutating func refuse(_ error: any Error) {
            invalid += 1
            let first = (error as? Diagnostics)?.all.first?.message ?? "\(error)"
            problems[first.replacing(/`[^`]*`/, with: "`…`"), default: 0] += 1
        }

        mutating func compare(_ isTrue: Bool, _ words: @autoclosure () -> String) {
            comparisons += 1
            if !isTrue, disagreements.count < 20 { disagreements.append(words()) }
        }
    }

    @Test("Tools and an engine never disagree")
    func comparison() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["ASSAY_DIFFERENTIAL_SECONDS"].flatMap { Double($0) } ?? 5
        let stated = environment["ASSAY_DIFFERENTIAL_SEED"]
        let seed: UInt64 = stated == "random" ? .random(in: 0 ... .max) : stated.flatMap { UInt64($0) } ?? 20_261_127
        var random = SplitMix(seed: seed)
        var tally = Tally()
        let end = ContinuousClock.now + .seconds(seconds)
        // A busy machine may need longer for the first differences.
        while ContinuousClock.now < end || tally.different == 0 && ContinuousClock.now < end + .seconds(600),
            tally.disagreements.isEmpty
        {
            try await Round(&random, &tally)?.run(&random, &tally)
        }
        print(
            "differential: seed \(seed), \(tally.policies) sets of policies (\(tally.invalid) invalid), \(tally.requests) "
                + "requests, \(tally.comparisons) comparisons, \(tally.different) different, \(tally.notJudged) not judged"
        )
        for (problem, count) in tally.problems.sorted(by: { $0.value > $1.value }).prefix(12) {
            print("differential: \(count) refused: \(problem)")
        }
        #expect(tally.disagreements.isEmpty, "seed \(seed)")
        #expect(tally.comparisons > 0)
        #expect(tally.different > 0)
        for text in tally.disagreements { print(text) }
    }
}

/// One set of policies, one change of it, and some requests.
struct Round {
    private let before: RandomPolicies
    private let (old, new): (World, World)
    private let clock: ManualClock
    private let (changed, same): (DecisionReplay, DecisionReplay)
    private let after: String

    /// Nil for policies that are refused.
    init?(_ random: inout SplitMix, _ tally: inout DifferentialTests.Tally) throws {
        let clock = ManualClock()
        let keys = KeyStore.pooled()
        let before = RandomPolicies(&random)
        tally.policies += 1
        let old: World
        do {
            old = try World(before.text, keys: keys, clock: clock)
        } catch {
            tally.refuse(error)
            return nil
        }
        var after = before
        for _ in 0...Int.random(in: 0...1, using: &random) { after.change(&random, tokens: []) }
        let new: World
        do {
            new = try World(after.text, keys: keys, clock: clock)
        } catch {
            tally.refuse(error)
            return nil
        }
        self.before = before
        self.after = after.text
        self.clock = clock
        (self.old, self.new) = (old, new)
        changed = try DecisionReplay(from: (old.policies, World.registry), to: (new.policies, World.registry))
        same = try DecisionReplay(from: (old.policies, World.registry), to: (old.policies, World.registry))
    }

    func run(_ random: inout SplitMix, _ tally: inout DifferentialTests.Tally) async throws {
        // The states begin before any token is issued.
        for world in [old, new] { _ = await world.answer(Request(Call("exchangeNote", resource: "projects/1"))) }
        clock.advance(by: .seconds(600))
        for _ in 0..<12 {
            let app = random.pick(before.projects.flatMap { project in project.apps.map { (project, $0) } })
            let evidence = evidence(of: app.1, in: app.0, &random)
            let issued = await ask(evidence, &tally)
            let token = token(issued, evidence, app.1)
            if random.happens(onceIn: 6) { clock.advance(by: .seconds(120)) }
            let request = request(token, app.0, app.1, &random)
            _ = await ask(request, &tally)
        }
        try await testPermissions(&random, &tally)
    }

    // MARK: - Requests

    private func evidence(
        of app: RandomPolicies.App, in project: RandomPolicies.Project, _ random: inout SplitMix
    ) -> Request {
        let usesSketch = app.providers["notary"] == nil || app.providers["sketch"] != nil && random.happens(onceIn: 3)
        var members: [JSONMember] = []
        if random.happens(onceIn: 2) {
            members.append(JSONMember("label", .string(random.pick(RandomPolicies.labels))))
        }
        if !usesSketch {
            if random.happens(onceIn: 2) {
                members.append(JSONMember("serial", .string(random.pick(RandomPolicies.serials))))
            }
            if random.happens(onceIn: 2) {
                members.append(JSONMember("build", .string(random.pick(RandomPolicies.builds))))
            }
            if random.happens(onceIn: 2) {
                members.append(JSONMember("score", .string("\(Int.random(in: 0...8, using: &random))")))
            }
            if random.happens(onceIn: 4) { members.append(JSONMember("rooted", true)) }
        }
        if random.happens(onceIn: 3) { members.append(JSONMember("limitedUse", true)) }
        var method = usesSketch ? "exchangeSketch" : "exchangeNote"
        if random.happens(onceIn: 12) { method = random.pick(["exchangeSketch", "exchangeNote"]) }
        var resource = app.isClient ? "oauthClients/\(app.id)" : "projects/\(project.id)/apps/\(app.id)"
        if random.happens(onceIn: 15) {
            resource = random.pick(["projects/9", "projects/1", "oauthClients/x", "nothing"])
        }
        return Request(Call(method, resource: resource, body: .object(members)))
    }

    private func token(_ reply: JSON?, _ evidence: Request, _ app: RandomPolicies.App) -> Request.Token? {
        guard let text = reply?["token"]?.string, let call = evidence.call else { return nil }
        return Request.Token(
            text: text, app: app.id, provider: call.method == "exchangeNote" ? "notary" : "sketch",
            isLimitedUse: call.body["limitedUse"]?.bool ?? false)
    }

    private func request(
        _ token: Request.Token?, _ project: RandomPolicies.Project, _ app: RandomPolicies.App,
        _ random: inout SplitMix
    ) -> Request {
        let text = token?.text ?? random.pick([nil, "nonsense"])
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1, 2:
            let project = random.happens(onceIn: 8) ? random.pick(before.projects) : project
            let backend = project.backends?.keys.sorted().randomElement(using: &random) ?? "none"
            let (verb, path) = (
                random.pick(["GET", "POST"]),
                random.pick(["/payments/1", "/payments/2", "/open", "/else", "/payments//1"])
            )
            return Request(
                Call(
                    "verifyRequest",
                    body: [
                        "backend": .string(backend), "originalMethod": .string(verb), "originalUri": .string(path),
                    ], token: text.map { .one($0) }), token: token, proxied: ("\(verb) \(path)", backend))
        case 3:
            return Request(
                ProtectedRequest(
                    project: project.id, service: random.pick(RandomPolicies.serviceNames), token: text), token: token)
        case 4:
            let (caller, credentials) = caller(&random)
            return Request(
                Call(
                    "verifyAppCheckToken", resource: "projects/\(project.number)",
                    body: ["appCheckToken": .string(text ?? "nothing")], credentials: credentials), caller: caller,
                token: token)
        default:
            let (caller, credentials) = caller(&random)
            return Request(
                Call(
                    "mintAppCheckToken",
                    resource: app.isClient ? "oauthClients/\(app.id)" : "projects/\(project.id)/apps/\(app.id)",
                    credentials: credentials), caller: caller)
        }
    }

    private func caller(_ random: inout SplitMix) -> (String?, BearerToken?) {
        guard !random.happens(onceIn: 8),
            let (name, caller) = before.callers.sorted(by: { $0.key < $1.key })
                .randomElement(using: &random)
        else { return (nil, BearerToken("unknown-token-0123456789")) }
        return (name, BearerToken(random.pick(caller.tokens).text))
    }

    // MARK: - Comparing

    /// Asks both servers, compares what tools say, and returns the reply under the policies before.
    private func ask(_ request: Request, _ tally: inout DifferentialTests.Tally) async -> JSON? {
        tally.requests += 1
        let (reply, line) = await old.answer(request)
        let (_, other) = await new.answer(request)
        guard let line, let decision = Self.decision(line) else { return reply }
        let ending = decision.ending
        var replay = same
        replay.read(line[...])
        tally.compare(
            replay.result.same == 1,
            "the same policies: \(replay.result.text)\n\(String(decoding: line, as: UTF8.self))\n\(before.text)")
        if let other, let now = Self.decision(other) { compare(line, ending, other, now, &tally) }
        compareExplanation(request, decision, reply, &tally)
        return reply
    }

    private func compare(
        _ line: [UInt8], _ ending: String, _ other: [UInt8], _ now: RecordedDecision,
        _ tally: inout DifferentialTests.Tally
    ) {
        var replay = changed
        replay.read(line[...])
        let result = replay.result
        let words = {
            "policy diff: \(result.text), and the server: \(now.ending)\n\(String(decoding: line, as: UTF8.self))\n"
                + "\(String(decoding: other, as: UTF8.self))\n\(before.text)\n-- to --\n\(after)"
        }
        if ending != now.ending { tally.different += 1 }
        if result.same == 1 {
            tally.compare(ending == now.ending, words())
        } else if let group = result.changed.first?.group {
            tally.compare(
                group.new == DecisionReplay.passes ? ending != now.ending : group.new == now.ending, words())
        } else if result.notJudged.isEmpty {
            tally.compare(false, words())
        } else {
            tally.notJudged += 1
        }
    }

    private static func decision(_ line: [UInt8]) -> RecordedDecision? {
        if case .decision(let decision) = RecordedDecision.read(line[...]) { decision } else { nil }
    }

    private func compareExplanation(
        _ request: Request, _ decision: RecordedDecision, _ reply: JSON?, _ tally: inout DifferentialTests.Tally
    ) {
        guard let call = request.call else { return }
        var explained = ExplainedCall(call.method, on: call.resource, by: request.caller)
        if let proxied = request.proxied {
            guard let found = ProxiedCall(proxied.line, to: proxied.backend)?.call(in: World.registry, on: "") else {
                return
            }
            explained = found
        }
        guard let explanation = try? World.registry.explain(explained, in: old.policies) else {
            return tally.compare(false, "explain failed for \(explained)")
        }
        let steps = explanation.steps.map(\.text)
        let words = {
            "explain \(explained):\n\(steps.joined(separator: "\n"))\nand the server: \(decision.ending)\n\(before.text)"
        }
        // Without a known caller, it says who could call.
        if call.credentials != nil, request.caller == nil { return }
        if explanation.isStopped {
            tally.compare(reply == nil, words())
            return
        }
        let ends = ["NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "FAILED_PRECONDITION"].map { "rejected \($0)" }
        tally.compare(!ends.contains(decision.ending), words())
        if request.proxied != nil { compareDemand(request, steps, decision, reply, words(), &tally) }
    }

    /// What is said of the request of a proxy's client.
    private func compareDemand(
        _ request: Request, _ steps: [String], _ decision: RecordedDecision, _ reply: JSON?, _ words: String,
        _ tally: inout DifferentialTests.Tally
    ) {
        if steps.contains(where: { $0.contains("no token is needed") || $0.contains("no valid token is needed") }) {
            return tally.compare(reply != nil, words)
        }
        guard let demand = steps.first(where: { $0.contains("a valid App Check token is needed") }) else {
            return tally.compare(reply == nil, words)
        }
        guard let token = request.token else { return tally.compare(reply == nil, words) }
        let verdict = steps.first { $0.contains("tokens of \(token.app) by \(token.provider): ") }
        if let verdict, let code = verdict.split(separator: " ").last, verdict.contains(": refused ") {
            let isDenied = decision.ending == "refused token_denied" && steps.contains { $0.hasPrefix("deny ") }
            tally.compare(decision.ending == "refused \(code)" || isDenied, words)
        } else if verdict == nil {
            tally.compare(reply == nil, words)
        } else if !demand.contains("limited use") || token.isLimitedUse, !demand.contains(" old"),
            !steps.contains(where: { $0.hasPrefix("deny ") })
        {
            tally.compare(reply != nil, words)
        }
    }

    // MARK: - Tests of policies

    /// What `policy test` says of callers, and of facts.
    private func testPermissions(_ random: inout SplitMix, _ tally: inout DifferentialTests.Tally) async throws {
        var (cases, requests): ([String], [Request]) = ([], [])
        for (name, caller) in before.callers.sorted(by: { $0.key < $1.key }) {
            guard caller.tokens.allSatisfy({ $0.expires?.hasPrefix("2001") != true }) else { continue }
            for project in before.projects {
                for method in ["verifyAppCheckToken", "mintAppCheckToken"] {
                    let resource =
                        method.hasPrefix("v")
                        ? "projects/\(project.id)" : "projects/\(project.id)/apps/\(project.apps[0].id)"
                    cases.append(
                        "  - {name: c\(cases.count), caller: \(name), method: \(method), resource: \"\(resource)\", expect: {permission: allowed}}"
                    )
                    requests.append(
                        Request(
                            Call(
                                method, resource: resource, body: ["appCheckToken": "x"],
                                credentials: BearerToken(caller.tokens[0].text))))
                }
            }
        }
        for project in before.projects {
            for app in project.apps where app.providers["notary"] == "{}" {
                let label = random.pick(RandomPolicies.labels)
                let score = Int.random(in: 0...6, using: &random)
                cases.append(
                    "  - {name: c\(cases.count), app: \"\(app.id)\", provider: notary, facts: {label: \"\(label)\", score: \(score)}, expect: {verdict: accepted}}"
                )
                requests.append(
                    Request(
                        Call(
                            "exchangeNote",
                            resource: app.isClient ? "oauthClients/\(app.id)" : "projects/\(project.id)/apps/\(app.id)",
                            body: ["label": .string(label), "score": .string("\(score)")])))
            }
        }
        guard !cases.isEmpty else { return }
        let file = PolicyFile(name: "p_test.yaml", text: "tests:\n" + cases.joined(separator: "\n") + "\n")
        let report = try await PolicyTests([file], of: old.policies, registry: World.registry, simulators: []).run()
        for (result, request) in zip(report.results, requests) {
            let (_, line) = await old.answer(request)
            guard let line, let decision = Self.decision(line), let finding = result.finding else { continue }
            let words =
                "policy test: \(finding.words), and the server: \(decision.ending)\n\(result.name)\n\(before.text)"
            if let permission = finding.permission {
                tally.compare(
                    (permission == .denied) == (decision.ending == "rejected PERMISSION_DENIED"), words)
            } else {
                let said = finding.reason.map { "refused \($0.code)" } ?? "issued"
                tally.compare(said == decision.ending && finding.rule?.string == decision.rule, words)
            }
        }
    }
}
