internal import AssayCore
internal import AssayEngine
public import AssayHosting
public import AssayKit

/// What every `AttestationProvider` promises, as checks for the author of a provider.
///
///     let suite = AttestationProviderSuite(DoorLockProvider.self, subject)
///     #expect(await suite.report(.quick).failures == [])
///
/// The author says how a genuine device makes evidence (``ProviderSubject``). The suite runs an engine with the provider,
/// derives hostile evidence from genuine one, and looks at what the engine answers, records and logs. The checks, by name:
///
/// | check | rule |
/// |---|---|
/// | `descriptor` | the descriptor says everything that operators rely on |
/// | `genuine` | genuine evidence gets a token, each time |
/// | `missing-fields` | a request without one of its fields gets no token |
/// | `field-types` | a field of another type gets no token, and is no fault |
/// | `truncation` | evidence that was cut off or extended gets no token |
/// | `bit-flips` | evidence with one bit changed gets no token |
/// | `splices` | evidence with a part of another device's gets no token |
/// | `replay` | evidence is good once |
/// | `other-app`, `other-project` | evidence for one app gets no token for another one |
/// | `clock` | evidence and challenges end |
/// | `oversize`, `hostile-text` | what no genuine client sends gets no token, and is no fault |
/// | `dead-upstream`, `slow-upstream`, `lying-upstream`, `huge-upstream` | without the other servers' word nothing is decided |
/// | `lost-store` | without the state store nothing is decided |
/// | `cancellation` | a cancelled call ends, and harms no later one |
/// | `concurrency` | calls at the same time, while policies change, are answered as others |
/// | `equal-verdicts` | equal evidence gets equal verdicts |
/// | `configuration` | errors of the section are refused at their line |
/// | `documentation` | each key and each reason is described |
/// | `secrecy` | no message, record or log line has a secret or evidence |
/// | `contract` | no call broke the contract |
public struct AttestationProviderSuite<Provider: AttestationProvider>: ConformanceSuite {
    let subject: ProviderSubject

    /// Makes the suite of a provider.
    public init(_ type: Provider.Type, _ subject: ProviderSubject) {
        self.subject = subject
    }

    /// `provider`.
    public var kind: PluginKind { .provider }
    /// The provider's name in policies.
    public var name: String { Provider.descriptor.name }

    /// Runs all checks.
    public func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        let findings = Findings()
        let targets = subject.exchanges.map { target($0) }
        let input = HostileInputChecks(
            targets: targets, bench: { try bench() }, limit: Provider.descriptor.limits.evidence,
            hostile: HostileFields(effort: effort), findings: findings)
        let faults = FaultChecks(
            targets: targets, bench: { try bench() }, outboundCalls: Provider.descriptor.limits.outboundCalls,
            hasUpstream: !subject.upstream.isAbsent, findings: findings)
        let lies = ConformanceUpstream.lies.map { ConformanceUpstream.Mood.lying($0.response) }
        let lines = await ConformanceChecks.run([
            ("descriptor", "the descriptor says everything that operators rely on", descriptor),
            ("genuine", "genuine evidence gets a token, each time", input.genuine),
            ("missing-fields", "a request without one of its fields gets no token", input.missingFields),
            ("field-types", "a field of another type gets no token, and is no fault", input.fieldTypes),
            ("truncation", "evidence that was cut off or extended gets no token", input.truncation),
            ("bit-flips", "evidence with one bit changed gets no token", input.bitFlips),
            ("splices", "evidence with a part of another device's gets no token", input.splices),
            ("replay", "evidence is good once", input.replay),
            ("other-app", "evidence for an app gets no token for another one", input.moved(to: .second)),
            ("other-project", "evidence for an app gets no token in another project", input.moved(to: .foreign)),
            ("clock", "evidence and challenges end", input.clock),
            ("oversize", "a request beyond the limit is refused, and is no fault", input.oversize),
            ("hostile-text", "what no genuine client sends gets no token, and is no fault", input.hostileText),
            ("equal-verdicts", "equal evidence gets equal verdicts", input.equalVerdicts),
            ("dead-upstream", "without the other servers nothing is decided", faults.upstream([.dead])),
            ("slow-upstream", "the time of a call ends, and nothing is decided then", faults.upstream([.slow])),
            ("lying-upstream", "what no genuine server says gets no token", faults.upstream(lies)),
            ("huge-upstream", "an answer without end is no answer", faults.upstream([.huge])),
            ("lost-store", "without the state store nothing is decided", faults.lostStore),
            ("cancellation", "a cancelled call ends, and harms no later one", faults.cancellation),
            (
                "concurrency", "calls at the same time, while policies change, are answered as others",
                faults.concurrency
            ),
            ("configuration", "errors of the section are refused at their line", configuration),
            ("documentation", "each key and each reason is described", documentation),
        ])
        return ConformanceReport(
            .provider, name, version: Provider.descriptor.version, effort: effort, lines: lines + findings.lines)
    }

    /// An exchange as the checks see it.
    private func target(_ exchange: ProviderSubject.Exchange) -> ConformanceTarget {
        let platform = subject.platform
        return ConformanceTarget(
            name: exchange.method,
            genuine: { bench, app, number in
                let resource = app.resource(platform: platform)
                let device = try await TestDevice.make(exchange, bench, app, resource, number)
                return Call(exchange.method, resource: resource, body: try await exchange.request(device))
            },
            moved: { call, app in
                var call = call
                call.resource = app.resource(platform: platform)
                return call
            },
            isGood: { !($0["token"] ?? $0["appCheckToken"]?["token"]).isAbsent },
            mayChange: { !exchange.open[$0].isAbsent },
            hasChallenge: !exchange.challengeMethod.isAbsent, lifetime: exchange.lifetime, reuse: exchange.reuse,
            sharing: exchange.sharing)
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

    func bench(_ policy: String? = nil) throws -> ConformanceBench {
        try ConformanceBench(
            ConformanceBench.Setup(
                plugins: [.provider(Provider.self)], policy: policy ?? self.policy(), secrets: subject.secrets,
                secretTexts: subject.secretTexts, upstream: subject.upstream))
    }

    // MARK: - What needs no evidence

    @Sendable private func descriptor(_ run: ConformanceRun) throws {
        ContractText.check(Provider.descriptor, run)
        let exchanges = Provider.methods.map(\.descriptor).filter(\.isExchange)
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
        ContractText.checkKeys(of: Provider.Configuration.self, run)
        ContractText.checkReasons(Provider.descriptor, run)
    }
}

extension TestDevice {
    /// The device that is to make evidence for an exchange.
    fileprivate static func make(
        _ exchange: ProviderSubject.Exchange, _ bench: ConformanceBench, _ app: TestApp, _ resource: String,
        _ number: Int
    ) async throws -> TestDevice {
        let call: @Sendable (String, JSON) async throws -> JSON = { method, body in
            let answer = await bench.call(Call(method, resource: resource, body: body))
            guard let reply = answer.reply else { throw CallNotAccepted(description: "\(method): \(answer.words)") }
            return reply
        }
        let challenge: @Sendable (String) async throws -> [UInt8] = { method in
            guard let bytes = try await call(method, [:])["challenge"]?.string.flatMap({ Base64.decode($0) }) else {
                throw CallNotAccepted(description: "\(method) gives no challenge")
            }
            return bytes
        }
        var made: [UInt8] = []
        if let method = exchange.challengeMethod { made = try await challenge(method) }
        return TestDevice(
            app: app, number: number, challenge: made, now: bench.clock.now, call: call, makeChallenge: challenge)
    }
}

/// A genuine call that a check needs, and that was not accepted.
struct CallNotAccepted: Error, CustomStringConvertible {
    let description: String
}
