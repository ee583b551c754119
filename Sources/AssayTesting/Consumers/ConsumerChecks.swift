internal import AssayCore
package import AssayEngine
package import AssayKit

/// The checks of ``TokenConsumerSuite``, for a consumer that is a type, or for one in a process of its own.
package struct ConsumerChecks: ConformanceSuite {
    /// The consumer that is checked.
    package struct Consumer: Sendable {
        let plugin: Plugin
        let descriptor: PluginDescriptor
        /// Whether the project of the token selects the instance that answers.
        let isSelectedByToken: Bool
        /// The type of its section; nil for one whose keys the kernel takes with their descriptions only.
        let section: (any (Decodable & SendableMetatype).Type)?

        package init(
            plugin: Plugin, descriptor: PluginDescriptor, isSelectedByToken: Bool,
            section: (any (Decodable & SendableMetatype).Type)? = nil
        ) {
            self.plugin = plugin
            self.descriptor = descriptor
            self.isSelectedByToken = isSelectedByToken
            self.section = section
        }
    }

    private let consumer: Consumer
    private let subject: ConsumerSubject
    /// Kills the consumer's process, and returns when another one is ready; nil for a consumer without one.
    private let restart: (@Sendable () async throws -> Void)?

    package init(
        _ consumer: Consumer, _ subject: ConsumerSubject, restart: (@Sendable () async throws -> Void)? = nil
    ) {
        self.consumer = consumer
        self.subject = subject
        self.restart = restart
    }

    package var kind: PluginKind { .consumer }
    package var name: String { consumer.descriptor.name }

    package func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        let findings = Findings()
        let targets = subject.requests.map { target($0) }
        let input = HostileInputChecks(
            targets: targets, bench: { try bench() }, limit: consumer.descriptor.limits.evidence,
            hostile: HostileFields(effort: effort), findings: findings)
        let faults = FaultChecks(
            targets: targets, bench: { try bench() }, outboundCalls: consumer.descriptor.limits.outboundCalls,
            hasUpstream: !subject.upstream.isAbsent, denials: subject.denials, noDenials: subject.noDenials,
            undecided: subject.undecided, optionalMembers: subject.optionalMembers,
            reasons: consumer.descriptor.reasons, mayDecideWithoutStore: true, findings: findings)
        let costs = CostChecks(
            targets: targets, bench: { try bench() }, limits: consumer.descriptor.limits, findings: findings)
        let adversaries = AdversaryChecks(
            targets: targets, required: Adversary.ofConsumers, reasons: consumer.descriptor.reasons,
            bench: { try bench() }, findings: findings)
        let answers = AnswerChecks(
            subject: subject, tokenTypes: consumer.descriptor.tokenTypes,
            tokenLifetime: consumer.descriptor.limits.tokenLifetime, policy: { policy($0) },
            bench: { try bench($0) }, findings: findings)
        let lies = ConformanceUpstream.lies.map { ConformanceUpstream.Mood.lying($0.response) } + [.echoing]
        var checks: [ConformanceChecks.Named] = [
            ("descriptor", "the descriptor says everything that operators rely on", descriptor),
            ("configuration", "errors of the section are refused at their line", configuration),
            ("documentation", "each key and each reason is described", documentation),
            ("genuine", "a genuine request is answered, each time", input.genuine),
            ("time", "a call takes no more time than the descriptor says, and waits for nothing else", costs.time),
            ("tokens", "a request without a good token gets nothing", { try await tokens($0, findings) }),
        ]
        checks += adversaries.checks
        checks += [
            ("demands", "the policy's demands on tokens hold", answers.demands),
            ("limited-use", "a limited-use token is accepted once", answers.limitedUse),
            ("issued-tokens", "tokens in answers are of a declared type, and end", answers.issuedTokens),
            ("other-app", "the answer for an app is not that for another one", answers.otherApp),
            ("policy-change", "a new policy counts at once", answers.policyChange),
            ("dead-upstream", "without the other servers nothing is decided", faults.upstream([.dead])),
            ("slow-upstream", "the time of a call ends, and nothing is decided then", faults.upstream([.slow])),
            ("lying-upstream", "what no genuine server says grants nothing", faults.upstream(lies)),
            ("almost-genuine", "what only resembles a genuine answer grants nothing", faults.almostGenuine),
            ("undecided", "after an answer that decides nothing, nothing is decided", faults.undecided),
            ("huge-upstream", "an answer without end is no answer", faults.upstream([.huge])),
            ("upstream-no", "a genuine no of the other servers is a refusal with a declared reason", faults.upstreamNo),
            ("lost-store", "a lost state store is no reason to refuse", faults.lostStore),
            ("cancellation", "a cancelled call ends, and harms no later one", faults.cancellation),
            (
                "concurrency", "calls at the same time, while policies change, are answered as others",
                faults.concurrency
            ),
            ("memory", "refused requests are not kept", costs.memory),
            ("missing-fields", "a request without one of its fields is no fault", input.missingFields),
            ("field-types", "a field of another type is no fault", input.fieldTypes),
            ("equal-verdicts", "equal requests get equal verdicts", input.equalVerdicts),
            ("oversize", "a request beyond the limit is no fault", input.oversize),
            ("hostile-text", "what no genuine client sends is no fault", input.hostileText),
            ("truncation", "a request that was cut off or extended is no fault", input.truncation),
            ("bit-flips", "a request with one bit changed is no fault", input.bitFlips),
        ]
        if let restart {
            checks.append(
                ("restart", "a killed process is replaced, and the next one answers", faults.restart(restart)))
        }
        let lines = await ConformanceChecks().run(checks, findings)
        return ConformanceReport(
            .consumer, name, version: consumer.descriptor.version, effort: effort,
            lines: lines + findings.lines(consumer.descriptor, hasSecrets: !subject.secretTexts.isEmpty))
    }

    private func target(_ request: ConsumerSubject.Request) -> ConformanceTarget {
        var target = ConformanceTarget(
            name: request.name,
            genuine: { bench, app, number in
                try await request.call(TestClient.make(bench, app, number))
            },
            moved: { call, _ in call }, isGood: { _ in true }, mayChange: { _ in true })
        target.reuse = "a consumer's answers may be had again"
        for (kind, evidence) in request.adversaries {
            switch evidence.source {
            case .impossible(let why): target.adversaries[kind] = .impossible(why)
            case .request(let reason, let make):
                target.adversaries[kind] = .call(reason) { bench, number in
                    try await make(TestClient.make(bench, .first, number))
                }
            }
        }
        return target
    }

    private func bench(_ policy: String? = nil) throws -> ConformanceHarness {
        try ConformanceHarness(
            ConformanceHarness.Setup(
                plugins: [.provider(ConformanceTokens.self), consumer.plugin], policy: policy ?? self.policy(),
                secrets: subject.secrets, secretTexts: subject.secretTexts, upstream: subject.upstream))
    }

    private func policy(_ section: ((TestApp) -> String)? = nil) -> String {
        let section = section ?? { subject.section($0) }
        func project(_ app: TestApp, _ apps: [TestApp]) -> String {
            let apps = apps.map {
                "      - {id: \"\($0.id())\", providers: {\(ConformanceTokens.descriptor.name): {}}}"
            }
            let text = """
                  - number: \(app.projectNumber)
                    id: \(app.projectID)
                    apps:
                \(apps.joined(separator: "\n"))
                    oauth_clients:
                      - {id: "\(app.oauthClient)", app: "\(app.id())"}
                """
            // Where the token tells the project, the other project's own instance would answer.
            if app == .foreign, consumer.isSelectedByToken { return text }
            return """
                \(text)
                    consumers:
                      \(name):
                \(PolicyText.indented(section(app), by: 8))
                """
        }
        return """
            # Such keys are made at once.
            tokens: {algorithm: ES256}
            callers:
              conformance: {sha256: \(String(repeating: "0", count: 64)), permissions: [admin]}
            \(PolicyText.indented(subject.callers, by: 2))
            projects:
            \(project(.first, [.first, .second]))
            \(project(.foreign, [.foreign]))
            """
    }

    // MARK: - Checks

    private func tokens(_ run: ConformanceRun, _ findings: Findings) async throws {
        for request in subject.requests {
            if let reason = request.withoutToken {
                run.skip(reason)
                continue
            }
            let bench = try bench()
            findings.add(bench)
            let genuine = try await TestClient.make(bench, .first, 0)
            let foreign = try await TestClient.make(bench, .foreign, 0)
            let cut = String(genuine.token.utf8.dropLast(8)) ?? ""
            let bad: [(what: String, token: String)] = [
                ("an empty token", ""), ("a word", "token"), ("a token that was cut off", cut),
                ("an unsigned token", "eyJhbGciOiJub25lIn0.e30."), ("the token of another project", foreign.token),
            ]
            for (what, token) in bad {
                try run.checkTime()
                let client = try await TestClient.make(bench, .first, 0, token: token)
                let answer = await bench.call(try await request.call(client))
                run.expect(answer.reply.isAbsent, "\(request.name) accepted \(what)")
                run.expect(!answer.isFault, "\(request.name), \(what): \(answer.words)")
            }
            bench.clock.advance(by: .seconds(8 * 86_400))
            let late = try await TestClient.make(bench, .first, 0, token: genuine.token)
            let answer = await bench.call(try await request.call(late))
            run.expect(answer.reply.isAbsent, "\(request.name) accepted a token of last week")
            run.count(bench.calls)
        }
    }

    @Sendable private func descriptor(_ run: ConformanceRun) throws {
        ContractText.check(consumer.descriptor, run)
        run.expect(!subject.requests.isEmpty, "the suite was given no request")
    }

    @Sendable private func configuration(_ run: ConformanceRun) throws {
        do {
            _ = try bench()
        } catch {
            run.expect(false, "the accepted section is refused: \(error)")
        }
        if subject.wrongSections.isEmpty { run.overlook("wrong values: `wrongSections` is empty") }
        let sections = subject.wrongSections + [PolicyText.withUnknownKey(subject.section(.first))]
        for section in sections {
            let policy = policy { $0 == .first ? section : subject.section($0) }
            PolicyText.check(policy, run) { _ = try bench($0) }
        }
    }

    @Sendable private func documentation(_ run: ConformanceRun) {
        if let section = consumer.section { ContractText.checkKeys(of: section, run) }
        ContractText.checkReasons(consumer.descriptor, run)
    }
}

extension TestApp {
    /// The OAuth client of the project's first app, in the policy of a suite.
    public var oauthClient: String { "\(projectNumber)-conformance.apps.example.com" }
}

extension TestClient {
    /// A client of an app.
    ///
    /// - Parameters:
    ///   - token: what it has in place of a token; nil for a good one.
    ///   - limitedUse: whether its good token is a limited-use one.
    ///   - made: what is set when it gets a further limited-use token.
    static func make(
        _ bench: ConformanceHarness, _ app: TestApp, _ number: Int, token: String? = nil, limitedUse: Bool = false,
        made: Flag = Flag()
    ) async throws -> TestClient {
        let call: @Sendable (Call) async throws -> JSON = { call in
            let answer = await bench.call(call)
            guard let reply = answer.reply else {
                throw CallNotAccepted(description: "\(call.method): \(answer.words)")
            }
            return reply
        }
        let make: @Sendable (String, Bool) async throws -> String = { resource, limitedUse in
            let reply = try await call(
                Call(ConformanceTokens.method, resource: resource, body: ["limitedUse": .bool(limitedUse)]))
            guard let text = reply["token"]?.string else { throw CallNotAccepted(description: "no token") }
            return text
        }
        var own = token
        if own.isAbsent { own = try await make(app.resource(), limitedUse) }
        return TestClient(
            app: app, number: number, token: own ?? "", hasGoodToken: token.isAbsent, now: bench.clock.now,
            makeToken: { resource, limitedUse in
                if limitedUse { made.set() }
                return try await make(resource, limitedUse)
            }, call: call)
    }
}
