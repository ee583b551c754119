import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import Foundation
@testable import AssayPolicyTools

/// What `policy test` says in each of its forms, compared with what the servers did.
extension Round {
    /// One test, and what a server did with the same.
    private struct Tested {
        let tool: Tally.Tool
        /// The members of the test, as JSON.
        let test: JSON
        let answer: World.Answer
    }

    mutating func compareTests() async throws {
        var tested: [Tested] = []
        tested += await testCallers()
        tested += await testEvidence()
        tested += await testRequests()
        try await compare(tested, by: tools.old, before)
        try await compareDecisions()
    }

    // MARK: - Making tests

    private mutating func testCallers() async -> [Tested] {
        var tested: [Tested] = []
        for policy in served.old.callers where values.random.happens(onceIn: 2) {
            guard let version = [0, 1].first(where: { Self.has(policy.name, $0, served.old) }) else { continue }
            let method = values.random.pick([
                "verifyAppCheckToken", "mintAppCheckToken", "listServices", "listDenyEntries",
            ])
            let apps = served.old.apps.filter { $0.identity.kind == .app }
            guard let app = apps.randomElement(using: &values.random) else { continue }
            let resource = method.hasPrefix("m") ? app.identity.resource : "projects/\(app.identity.project.id)"
            let answer = await old.answer(
                Request(
                    Call(
                        method, resource: resource, body: method.hasPrefix("v") ? ["appCheckToken": "x"] : [:],
                        credentials: BearerToken(RandomValues.token(of: policy.name, version)))))
            tested.append(
                Tested(
                    tool: .caller,
                    test: [
                        "caller": .string(policy.name), "method": .string(method), "resource": .string(resource),
                        "expect": ["permission": "allowed"],
                    ], answer: answer))
        }
        return tested
    }

    /// The same evidence as facts, and as that of a device.
    private mutating func testEvidence() async -> [Tested] {
        var tested: [Tested] = []
        for tool in [Tally.Tool.facts, .facts, .facts, .device] {
            let app = values.random.pick(served.old.apps)
            guard app.providers.contains(where: { $0.name == "notary" }) else { continue }
            let evidence = evidence(of: app, by: "notary")
            guard tool == .device || !evidence.isForLimitedUse else { continue }
            var test: [JSONMember] = [
                JSONMember("app", .string(app.identity.subject)), JSONMember("provider", "notary"),
                JSONMember(tool == .device ? "device" : "facts", .object(evidence.facts)),
                JSONMember("expect", ["verdict": "accepted"]),
            ]
            if tool == .device { test.append(JSONMember("at", .string("\(clock.now)"))) }
            if evidence.isForLimitedUse { test.append(JSONMember("limited_use", true)) }
            let answer = await old.answer(
                Request(evidence: evidence, method: "exchangeNote", resource: app.identity.resource))
            tested.append(Tested(tool: tool, test: .object(test), answer: answer))
        }
        return tested
    }

    private mutating func testRequests() async -> [Tested] {
        var tested: [Tested] = []
        for _ in 0..<2 {
            let app = values.random.pick(served.old.apps)
            guard let provider = app.providers.randomElement(using: &values.random)?.name else { continue }
            let isLimited = values.random.happens(onceIn: 3)
            let evidence = Request.Evidence(
                provider: provider, app: app.identity.subject, facts: [], isForLimitedUse: isLimited)
            let issued = await old.answer(
                Request(
                    evidence: evidence, method: provider == "sketch" ? "exchangeSketch" : "exchangeNote",
                    resource: app.identity.resource))
            guard let text = issued.reply?["token"]?.string else { continue }
            let age = values.random.pick(["0s", "2m", "15m"])
            clock.advance(by: .seconds(RandomValues.seconds(age) ?? 0))
            let request = proxied(nil, text, app.identity.project)
            guard let proxied = request.proxied, let backend = proxied.backend,
                !edited.contains(where: { $0.hasSuffix("/\(backend)") })
            else { continue }
            tested.append(
                Tested(
                    tool: .request,
                    test: [
                        "request": .string(proxied.line), "backend": .string(backend),
                        "token": [
                            "app": .string(app.identity.subject), "provider": .string(provider),
                            "limited_use": .bool(isLimited), "age": .string(age),
                        ], "expect": ["verdict": "accepted"],
                    ], answer: await old.answer(request)))
        }
        return tested
    }

    // MARK: - Comparing

    private mutating func compare(_ tested: [Tested], by policies: PolicySet, _ set: String) async throws {
        guard let results = try await results(tested.map(\.test), of: policies) else { return }
        for (tested, result) in zip(tested, results) {
            guard let line = tested.answer.line, let decision = Self.decision(line) else { continue }
            guard let finding = result.finding else {
                tally.notJudged += 1
                continue
            }
            let words =
                "\(finding.words), and the server: \(decision.ending)\n"
                + "\(String(decoding: tested.test.encoded, as: UTF8.self))\n"
                + "\(String(decoding: line, as: UTF8.self))\n\(set)"
            switch tested.tool {
            case .caller:
                tally.compare(
                    .caller, (finding.permission == .denied) == (decision.ending == "rejected PERMISSION_DENIED"), words
                )
            case .request:
                let said = finding.reason.map { "refused \($0.code)" } ?? "answered"
                tally.compare(.request, said == decision.ending, words)
            default: compare(finding, tested, decision, words)
            }
        }
    }

    /// What is said of evidence.
    private mutating func compare(
        _ finding: PolicyFinding, _ tested: Tested, _ decision: RecordedDecision, _ words: String
    ) {
        // Facts are what was verified: what a provider refuses has none. A device has a state of its own.
        let own = NotaryProvider.descriptor.reasons.map(\.code)
        let unknown = tested.tool == .facts ? own : [NotaryProvider.serialReused.code]
        if decision.reason.map(unknown.contains) ?? false || decision.denyList == DenialSource.server.rawValue {
            tally.notJudged += 1
            return
        }
        let said = finding.reason.map { "refused \($0.code)" } ?? "issued"
        tally.compare(tested.tool, said == decision.ending && finding.rule?.string == decision.rule, words)
        let wouldRefuse = (tested.answer.record?.rules.wouldRefuse ?? []).filter {
            tested.tool == .device || !$0.string.contains(":")
        }
        tally.compare(
            tested.tool, Set(finding.wouldRefuse) == Set(wouldRefuse),
            "would refuse \(finding.wouldRefuse), and \(wouldRefuse): \(words)")
        guard let token = finding.token, let text = tested.answer.reply?["token"]?.string,
            let claims = Self.claims(text)
        else { return }
        tally.compare(
            tested.tool, "\(token.lifetime.components.seconds)s" == tested.answer.reply?["ttl"]?.string,
            "lives \(token.lifetime): \(words)")
        // Each token has others.
        let own2 = { (claims: JSON) in
            (claims.members ?? []).filter { !["jti", "iat", "exp", "state"].contains($0.name) }
        }
        tally.compare(
            tested.tool, Set(own2(token.claims)) == Set(own2(claims)), "claims \(token.claims) and \(claims): \(words)")
    }

    private func results(_ tests: [JSON], of policies: PolicySet) async throws -> [PolicyTestResult]? {
        guard !tests.isEmpty else { return nil }
        let named = tests.enumerated().map { $1.with("name", .string("test \($0)")) }
        let file = PolicyFile(
            name: "p_test.yaml", text: String(decoding: (["tests": .array(named)] as JSON).encoded, as: UTF8.self))
        return try await PolicyTests(
            [file], of: policies, registry: World.registry, simulators: [NotarySimulator()], now: clock.now
        ).run().results
    }

    /// What tests with recorded decisions say under the policies before and after.
    private mutating func compareDecisions() async throws {
        guard !decided.isEmpty else { return }
        let sets = (before: before, after: after)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("differential-\(UUID()).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(decided.flatMap { $0.line + [UInt8(ascii: "\n")] }).write(to: file)
        for (policies, isNew) in [(tools.old, false), (tools.new, true)] {
            let known = decided.filter { decided in
                (!isNew || decided.other != nil) && ["issued", "refused"].contains(decided.decision.outcome)
                    && policies.apps.contains { app in
                        app.identity.resource == decided.decision.resource
                            && app.providers.contains { $0.name == decided.decision.provider }
                    }
            }
            let tests = known.map { decided -> JSON in
                [
                    "decision": ["record": .string(file.path), "id": .string(decided.decision.id)],
                    "expect": ["verdict": "accepted"],
                ]
            }
            let results = try await results(tests, of: policies) ?? []
            for (result, decided) in zip(results, known) {
                let server = (isNew ? decided.other : nil) ?? decided.decision
                // Providers are not asked again.
                let own = NotaryProvider.descriptor.reasons.map(\.code)
                let isOfProvider = [decided.decision, server].contains { $0.reason.map(own.contains) ?? false }
                guard let finding = result.finding, !isNew || !isOfProvider && server.denyList != "server",
                    !isNew || decided.decision.denyList != "server", server.outcome != "rejected"
                else {
                    tally.notJudged += 1
                    continue
                }
                let said = finding.reason.map { "refused \($0.code)" } ?? "issued"
                tally.compare(
                    .decision, said == server.ending && finding.rule?.string == server.rule,
                    "\(finding.words), and the server: \(server.ending)\n"
                        + "\(String(decoding: decided.line, as: UTF8.self))\n"
                        + (isNew ? sets.after : sets.before))
            }
        }
    }
}
