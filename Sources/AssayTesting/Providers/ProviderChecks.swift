package import AssayCore
package import AssayEngine
package import AssayKit

/// The checks of ``AttestationProviderSuite``, for a provider that is a type, or for one in a process of its own.
package struct ProviderChecks: ConformanceSuite {
    /// The provider that is checked.
    package struct Provider: Sendable {
        let plugin: Plugin
        let descriptor: PluginDescriptor
        let methods: [MethodDescriptor]
        /// The type of its section; nil for one whose keys the kernel takes with their descriptions only.
        let section: (any (Decodable & SendableMetatype).Type)?

        package init(
            plugin: Plugin, descriptor: PluginDescriptor, methods: [MethodDescriptor],
            section: (any (Decodable & SendableMetatype).Type)? = nil
        ) {
            self.plugin = plugin
            self.descriptor = descriptor
            self.methods = methods
            self.section = section
        }
    }

    let provider: Provider
    let subject: ProviderSubject
    /// Kills the provider's process, and returns when another one is ready; nil for a provider without one.
    let restart: (@Sendable () async throws -> Void)?

    package init(
        _ provider: Provider, _ subject: ProviderSubject, restart: (@Sendable () async throws -> Void)? = nil
    ) {
        self.provider = provider
        self.subject = subject
        self.restart = restart
    }

    package var kind: PluginKind { .provider }
    package var name: String { provider.descriptor.name }

    package func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        let findings = Findings()
        let targets = subject.exchanges.map { target($0) }
        let input = HostileInputChecks(
            targets: targets, bench: { try bench() }, limit: provider.descriptor.limits.evidence,
            hostile: HostileFields(effort: effort), findings: findings)
        let faults = FaultChecks(
            targets: targets, bench: { try bench() }, outboundCalls: provider.descriptor.limits.outboundCalls,
            hasUpstream: !subject.upstream.isAbsent, denials: subject.denials, noDenials: subject.noDenials,
            undecided: subject.undecided, optionalMembers: subject.optionalMembers,
            reasons: provider.descriptor.reasons, findings: findings)
        let uses = UseChecks(targets: targets, bench: { try bench() }, findings: findings)
        let costs = CostChecks(
            targets: targets, bench: { try bench() }, limits: provider.descriptor.limits, findings: findings)
        let adversaries = AdversaryChecks(
            targets: targets, required: Adversary.ofProviders, reasons: provider.descriptor.reasons,
            bench: { try bench() }, findings: findings)
        let lies = ConformanceUpstream.lies.map { ConformanceUpstream.Mood.lying($0.response) } + [.echoing]
        var checks: [ConformanceChecks.Named] = [
            ("descriptor", "the descriptor says everything that operators rely on", descriptor),
            ("configuration", "errors of the section are refused at their line", configuration),
            ("documentation", "each key and each reason is described", documentation),
            ("genuine", "genuine evidence gets a token, each time", input.genuine),
            ("time", "a call takes no more time than the descriptor says, and waits for nothing else", costs.time),
            ("replay", "evidence is good once", input.replay),
            ("replay-later", "used evidence stays used for as long as it would be good", uses.later),
            ("new-state", "used evidence stays used when the state was lost", uses.newState),
            ("replay-in-project", "evidence for several apps of a project is used up for all", uses.inProject),
            ("other-app", "evidence for an app gets no token for another one", input.moved(to: .second)),
            ("other-project", "evidence for an app gets no token in another project", input.moved(to: .foreign)),
            ("clock", "evidence and challenges end", input.clock),
        ]
        checks += adversaries.checks
        checks += [
            ("dead-upstream", "without the other servers nothing is decided", faults.upstream([.dead])),
            ("slow-upstream", "the time of a call ends, and nothing is decided then", faults.upstream([.slow])),
            ("lying-upstream", "what no genuine server says gets no token", faults.upstream(lies)),
            ("almost-genuine", "what only resembles a genuine answer gets no token", faults.almostGenuine),
            ("undecided", "after an answer that decides nothing, nothing is decided", faults.undecided),
            ("huge-upstream", "an answer without end is no answer", faults.upstream([.huge])),
            ("upstream-no", "a genuine no of the other servers is a refusal with a declared reason", faults.upstreamNo),
            ("lost-store", "without the state store nothing is decided", faults.lostStore),
            ("cancellation", "a cancelled call ends, and harms no later one", faults.cancellation),
            (
                "concurrency", "calls at the same time, while policies change, are answered as others",
                faults.concurrency
            ),
            ("memory", "refused evidence is not kept", costs.memory),
            ("missing-fields", "a request without one of its fields gets no token", input.missingFields),
            ("field-types", "a field of another type gets no token, and is no fault", input.fieldTypes),
            ("splices", "evidence with a part of another device's gets no token", input.splices),
            ("equal-verdicts", "equal evidence gets equal verdicts", input.equalVerdicts),
            ("oversize", "a request beyond the limit is refused, and is no fault", input.oversize),
            ("hostile-text", "what no genuine client sends gets no token, and is no fault", input.hostileText),
            ("truncation", "evidence that was cut off or extended gets no token", input.truncation),
            ("bit-flips", "evidence with one bit changed gets no token", input.bitFlips),
        ]
        if let restart {
            checks.append(
                ("restart", "a killed process is replaced, and what was used stays used", faults.restart(restart)))
        }
        let lines = await ConformanceChecks().run(checks, findings)
        return ConformanceReport(
            .provider, name, version: provider.descriptor.version, effort: effort,
            lines: lines + findings.lines(provider.descriptor, hasSecrets: !subject.secretTexts.isEmpty))
    }

    /// An exchange as the checks see it.
    private func target(_ exchange: ProviderSubject.Exchange) -> ConformanceTarget {
        let caller = ExchangeCaller(exchange: exchange, platform: subject.platform)
        var target = ConformanceTarget(
            name: exchange.method,
            genuine: { bench, app, number in try await caller.genuine(bench, app, number) },
            moved: { call, app in caller.moved(call, to: app) },
            isGood: { !($0["token"] ?? $0["appCheckToken"]?["token"]).isAbsent },
            mayChange: { !exchange.open[$0].isAbsent })
        if !exchange.challengeMethod.isAbsent {
            target.hasChallenge = true
            target.crossed = { bench, app in
                try await caller.call(bench, 0, challengeApp: app, make: exchange.request)
            }
        }
        target.early = { bench, number, ahead in
            try await caller.call(bench, number, ahead: ahead, make: exchange.request)
        }
        for (name, make) in exchange.variants.sorted(by: { $0.key.precedesExactly($1.key) }) {
            target.variants.append((name, { bench, number in try await caller.call(bench, number, make: make) }))
        }
        for (kind, evidence) in exchange.adversaries {
            switch evidence.source {
            case .impossible(let why): target.adversaries[kind] = .impossible(why)
            case .request(let reason, let make):
                target.adversaries[kind] = .call(reason) { bench, number in
                    try await caller.call(bench, number, make: make)
                }
            }
        }
        target.lifetime = exchange.lifetime
        target.remembered = exchange.remembered
        target.reuse = exchange.reuse
        target.untimed = exchange.untimed
        target.sharing = exchange.sharing
        return target
    }

    /// The policy with the provider's section for each app.
    func policy(_ section: ((TestApp) -> String)? = nil) -> String {
        let section = section ?? { subject.section($0) }
        func app(_ app: TestApp) -> String {
            """
                  - id: \(app.id(platform: subject.platform))
            \(PolicyText.indented(subject.app(app), by: 8))
                    providers:
                      \(name):
            \(PolicyText.indented(section(app), by: 12))
            """
        }
        return """
            # Such keys are made at once.
            tokens: {algorithm: ES256}
            projects:
              - number: \(TestApp.first.projectNumber)
                id: \(TestApp.first.projectID)
                apps:
            \(app(.first))
            \(app(.second))
              - number: \(TestApp.foreign.projectNumber)
                id: \(TestApp.foreign.projectID)
                apps:
            \(app(.foreign))
            """
    }

    func bench(_ policy: String? = nil) throws -> ConformanceHarness {
        try ConformanceHarness(
            ConformanceHarness.Setup(
                plugins: [provider.plugin], policy: policy ?? self.policy(), secrets: subject.secrets,
                secretTexts: subject.secretTexts, upstream: subject.upstream))
    }

    // MARK: - What needs no evidence

    @Sendable private func descriptor(_ run: ConformanceRun) throws {
        ContractText.check(provider.descriptor, run)
        let exchanges = provider.methods.filter(\.isExchange)
        run.expect(!exchanges.isEmpty, "the provider has no method that exchanges evidence")
        for exchange in exchanges {
            run.expect(
                subject.exchanges.contains { $0.method.isExactly(exchange.name) },
                "the suite was given no device for the method \(exchange.name)")
        }
        for exchange in subject.exchanges {
            run.expect(
                exchanges.contains { $0.name.isExactly(exchange.method) },
                "the provider has no exchange named \(exchange.method)")
        }
    }

    @Sendable private func configuration(_ run: ConformanceRun) throws {
        do {
            _ = try bench()
        } catch {
            run.expect(false, "the accepted section is refused: \(error)")
        }
        if subject.wrongSections.isEmpty { run.overlook("wrong values: `wrongSections` is empty") }
        let sections =
            subject.wrongSections + [
                // What no provider knows.
                PolicyText.withUnknownKey(subject.section(.first))
            ]
        for section in sections {
            let policy = policy { $0 == .first ? section : subject.section($0) }
            PolicyText.check(policy, run) { _ = try bench($0) }
        }
    }

    @Sendable private func documentation(_ run: ConformanceRun) {
        if let section = provider.section { ContractText.checkKeys(of: section, run) }
        ContractText.checkReasons(provider.descriptor, run)
    }
}

/// A genuine call that a check needs, and that was not accepted.
struct CallNotAccepted: Error, CustomStringConvertible {
    let description: String
}
