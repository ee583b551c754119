internal import AssayCore
internal import AssayKit

/// The checks of what a consumer grants, to whom, and for how long.
struct AnswerChecks: Sendable {
    let subject: ConsumerSubject
    /// The types of tokens that the descriptor declares.
    let tokenTypes: [String]
    /// How long tokens may be valid, as the descriptor says.
    let tokenLifetime: Duration
    /// The policy with a section for each app's project.
    let policy: @Sendable (@escaping (TestApp) -> String) -> String
    /// An engine with a policy; nil for the policy of the subject.
    let bench: @Sendable (_ policy: String?) throws -> ConformanceHarness
    let findings: Findings

    // MARK: - The policy's demands

    /// A demand of the policy that a genuine request of the first app does not meet.
    private enum Demand: String, CaseIterable {
        case otherApp = "apps"
        case limitedUse = "limited_use"
        case replay = "replay_protection"
        case age = "max_age"

        var yaml: String {
            switch self {
            case .otherApp: "tokens: {apps: [\"\(TestApp.second.id())\"]}"
            case .limitedUse: "tokens: {limited_use: true}"
            case .replay: "tokens: {replay_protection: ENFORCED}"
            case .age: "tokens: {max_age: 1m}"
            }
        }
    }

    @Sendable func demands(_ run: ConformanceRun) async throws {
        guard !subject.section(.first).split(onASCII: "\n").contains(where: { $0.hasPrefix("tokens:") }) else {
            return run.overlook("demands on tokens: the section of the subject has `tokens` already")
        }
        for demand in Demand.allCases {
            let policy = policy { app in
                app == .first ? subject.section(app) + "\n" + demand.yaml : subject.section(app)
            }
            do {
                _ = try bench(policy)
            } catch {
                run.overlook("the demand `\(demand.rawValue)`, which its section does not take")
                continue
            }
            for request in subject.requests { try await hold(demand, policy, request, run) }
        }
    }

    private func hold(
        _ demand: Demand, _ policy: String, _ request: ConsumerSubject.Request, _ run: ConformanceRun
    ) async throws {
        if let why = request.withoutDemand ?? request.withoutToken {
            return run.overlook("\(request.name): \(why)")
        }
        try run.checkTime()
        let bench = try bench(policy)
        findings.add(bench)
        defer { run.count(bench.calls) }
        let usesLimitedUse = Flag()
        let call = try await request.call(TestClient.make(bench, .first, 0, made: usesLimitedUse))
        if usesLimitedUse.isSet, demand == .limitedUse { return }
        if demand == .replay { _ = await bench.call(call) }
        if demand == .age { bench.clock.advance(by: .seconds(120)) }
        let answer = await bench.call(call)
        run.expect(
            answer.reply.isAbsent, "\(request.name) accepted a token that does not meet `\(demand.rawValue)`")
        run.expect(
            !answer.reply.isAbsent || !answer.isFault || answer.brokeContract,
            "\(request.name), a token that does not meet `\(demand.rawValue)`: \(answer.words)")
    }

    @Sendable func limitedUse(_ run: ConformanceRun) async throws {
        for request in subject.requests {
            if let why = request.reuse ?? request.withoutToken {
                run.skip(why)
                continue
            }
            try run.checkTime()
            let bench = try bench(nil)
            findings.add(bench)
            defer { run.count(bench.calls) }
            let call = try await request.call(TestClient.make(bench, .first, 0, limitedUse: true))
            let first = await bench.call(call)
            guard !first.reply.isAbsent else {
                run.overlook("\(request.name): a limited-use token is not accepted: \(first.words)")
                continue
            }
            let second = await bench.call(call)
            run.expect(second.reply.isAbsent, "\(request.name) accepted a limited-use token twice")
        }
    }

    // MARK: - Answers

    @Sendable func issuedTokens(_ run: ConformanceRun) async throws {
        for request in subject.requests {
            try run.checkTime()
            let bench = try bench(nil)
            findings.add(bench)
            defer { run.count(bench.calls) }
            let answer = await bench.call(try await request.call(TestClient.make(bench, .first, 0)))
            guard let reply = answer.reply else {
                run.expect(answer.brokeContract, "\(request.name), as it should be: \(answer.words)")
                continue
            }
            for (path, text) in FieldChange.texts(of: reply) {
                guard let token = IssuedToken(text) else { continue }
                let field = FieldChange.field(of: path)
                let type = token.header["typ"]?.string ?? "JWT"
                run.expect(
                    type.isExactly("JWT") || tokenTypes.contains { $0.isExactly(type) },
                    "\(request.name): the token in `\(field)` has the type \(type), which the descriptor does not declare"
                )
                guard let end = token.claims["exp"]?.integer else {
                    run.expect(false, "\(request.name): the token in `\(field)` never ends: it has no `exp`")
                    continue
                }
                let (lifetime, longest) = (end - bench.clock.now.seconds, tokenLifetime.components.seconds)
                run.expect(
                    lifetime <= longest,
                    "\(request.name): the token in `\(field)` is valid for \(lifetime) s, and \(longest) s are the most"
                )
            }
        }
    }

    /// What two new servers answer equally to an app, a server answers that another app asked before.
    @Sendable func otherApp(_ run: ConformanceRun) async throws {
        for request in subject.requests {
            try run.checkTime()
            guard let first = try await contents(request, run), let second = try await contents(request, run) else {
                run.overlook("\(request.name): it does not answer the second app of a project")
                continue
            }
            let expected = first.filter { second[$0.key] == $0.value }
            guard let after = try await contents(request, afterFirst: true, run) else {
                run.expect(false, "\(request.name) does not answer an app after another one")
                continue
            }
            for (path, value) in expected.sorted(by: { $0.key < $1.key }) where after[path] != value {
                run.expect(
                    false,
                    "\(request.name): `\(path)` is \(after[path]?.string ?? "missing") after another app's request, and not \(value)"
                )
            }
        }
    }

    /// The values in the answer to the second app; nil when it is refused.
    private func contents(
        _ request: ConsumerSubject.Request, afterFirst: Bool = false, _ run: ConformanceRun
    ) async throws -> [ExactText: ExactText]? {
        let bench = try bench(nil)
        findings.add(bench)
        defer { run.count(bench.calls) }
        if afterFirst {
            for _ in 0..<2 { _ = await bench.call(try await request.call(TestClient.make(bench, .first, 0))) }
        }
        guard let client = try? await TestClient.make(bench, .second, 0), let call = try? await request.call(client)
        else { return nil }
        guard let reply = await bench.call(call).reply else { return nil }
        var values: [ExactText: ExactText] = [:]
        IssuedToken.flatten(reply, at: "", into: &values)
        return values
    }

    @Sendable func policyChange(_ run: ConformanceRun) async throws {
        guard let section = subject.refusingSection else {
            return run.overlook("what was granted before a change of the policy: `refusingSection` is nil")
        }
        let after = policy { $0 == .first ? section : subject.section($0) }
        for request in subject.requests {
            try run.checkTime()
            let bench = try bench(nil)
            findings.add(bench)
            defer { run.count(bench.calls) }
            for _ in 0..<2 {
                let answer = await bench.call(try await request.call(TestClient.make(bench, .first, 0)))
                run.expect(
                    !answer.reply.isAbsent || answer.brokeContract, "\(request.name), before: \(answer.words)")
            }
            let old = try await request.call(TestClient.make(bench, .first, 0))
            try bench.replacePolicies(after)
            for call in [old, try await request.call(TestClient.make(bench, .first, 0))] {
                let answer = await bench.call(call)
                run.expect(answer.reply.isAbsent, "\(request.name) granted what the new policy refuses")
                run.expect(!answer.isFault || answer.brokeContract, "\(request.name), after: \(answer.words)")
            }
        }
    }
}

/// A JWT in an answer.
private struct IssuedToken {
    let header: JSON
    let claims: JSON

    init?(_ text: String) {
        let parts = text.split(onASCII: ".").map { Base64.decodeURL(utf8: Array($0.utf8)[...]) }
        guard parts.count == 3, let header = parts[0].flatMap({ try? JSON.parse($0) }),
            let claims = parts[1].flatMap({ try? JSON.parse($0) }), header.members != nil, claims.members != nil
        else { return nil }
        (self.header, self.claims) = (header, claims)
    }

    /// The values within a value by their paths; a JWT is its header and its claims.
    static func flatten(_ value: JSON, at path: String, into values: inout [ExactText: ExactText]) {
        switch value {
        case .object(let members):
            for member in members { flatten(member.value, at: "\(path)/\(member.name)", into: &values) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { flatten(element, at: "\(path)/\(index)", into: &values) }
        case .string(let text):
            if let token = IssuedToken(text) {
                flatten(token.header, at: "\(path)/header", into: &values)
                flatten(token.claims, at: "\(path)/claims", into: &values)
            } else {
                values[ExactText(path)] = ExactText(text)
            }
        case .null, .bool, .integer, .number:
            values[ExactText(path)] = ExactText(String(decoding: value.encoded, as: UTF8.self))
        }
    }
}
