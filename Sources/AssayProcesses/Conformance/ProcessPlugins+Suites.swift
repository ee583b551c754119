#if Simulator
internal import AssayCore
public import AssayKit
internal import AssayTesting

extension ProcessPlugins {
    /// The conformance suites of the plugins, in the order of the settings.
    ///
    /// The processes make the genuine requests too, with the service `Simulator` of `assay.plugin.v1`. A plugin whose process
    /// does not run, or has no such service, has a suite that fails and says so.
    public func suites() async -> [any ConformanceSuite] {
        var suites: [any ConformanceSuite] = []
        for entry in entries {
            do {
                guard let running = entry.running else { throw ProcessSimulator.Failure(description: entry.reason) }
                suites.append(try await running.suite())
            } catch {
                suites.append(FailedSuite(kind: entry.settings.kind, name: entry.settings.name, reason: "\(error)"))
            }
        }
        return suites
    }
}

/// The suite of a plugin that cannot be checked.
private struct FailedSuite: ConformanceSuite {
    let kind: PluginKind
    let name: String
    let reason: String

    func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        ConformanceReport(
            kind, name, version: "", effort: effort,
            lines: [
                .init("simulator", "the process runs, and makes genuine requests", .failed([HostService.line(reason)]))
            ])
    }
}

extension ProcessPlugin {
    fileprivate func suite() async throws -> any ConformanceSuite {
        let simulator = ProcessSimulator(process: process)
        let (subject, platform) = try await simulator.subject()
        let descriptor = try PluginDescriptor(description)
        let restart: (@Sendable () async throws -> Void)?
        if case .command = process.settings.origin {
            restart = { [process] in try await process.restart() }
        } else {
            restart = nil
        }
        if description.kind == .provider {
            let provider = ProviderChecks.Provider(
                plugin: try plugin(), descriptor: descriptor,
                methods: try description.methods.map { try MethodDescriptor($0, of: description.kind) })
            return ProviderChecks(
                provider, providerSubject(of: subject, platform, simulator), restart: restart)
        }
        let consumer = ConsumerChecks.Consumer(plugin: try plugin(), descriptor: descriptor, isSelectedByToken: true)
        return ConsumerChecks(consumer, consumerSubject(of: subject, platform, simulator), restart: restart)
    }

    private func providerSubject(
        of subject: Assay_Plugin_V1_SubjectResponse, _ platform: String, _ simulator: ProcessSimulator
    ) -> ProviderSubject {
        let exchanges = subject.requests.map { request in
            let body: @Sendable (TestDevice, String?) async throws -> JSON = { device, adversary in
                try await simulator.body(
                    ProcessSimulator.Order(
                        method: request.method, app: device.app, platform: platform, client: device.number,
                        challenge: device.challenge, now: device.now, adversary: adversary, call: device.call))
            }
            return ProviderSubject.Exchange(
                request.method, challengeMethod: request.challengeMethod.nonEmpty,
                lifetime: request.lifetimeSeconds == 0 ? nil : .seconds(Int64(request.lifetimeSeconds)),
                reuse: request.reuse.nonEmpty, untimed: request.untimed.nonEmpty, sharing: request.sharing.nonEmpty,
                open: Dictionary(request.open.map { ($0.name, $0.why) }, uniquingKeysWith: { first, _ in first }),
                adversaries: request.evidence(of: Adversary.ofProviders, body)
            ) { try await body($0, nil) }
        }
        return ProviderSubject(
            exchanges: exchanges, section: { subject.sections[$0.rawValue] }, wrongSections: subject.wrongSections,
            platform: platform, secrets: subject.source, secretTexts: subject.secretTexts,
            upstream: subject.servers(simulator), denials: subject.denialsOfServers,
            noDenials: subject.noDenials.nonEmpty)
    }

    private func consumerSubject(
        of subject: Assay_Plugin_V1_SubjectResponse, _ platform: String, _ simulator: ProcessSimulator
    ) -> ConsumerSubject {
        let requests = subject.requests.map { request in
            let make: @Sendable (TestClient, String?) async throws -> Call = { client, adversary in
                let call: @Sendable (String, JSON) async throws -> JSON = { method, body in
                    try await client.call(Call(method, body: body, token: PresentedToken([client.token])))
                }
                let order = ProcessSimulator.Order(
                    method: request.method, app: client.app, platform: platform, client: client.number, challenge: [],
                    now: client.now, adversary: adversary, call: call)
                return Call(
                    request.method, body: try await simulator.body(order), token: PresentedToken([client.token]))
            }
            return ConsumerSubject.Request(
                request.method, reuse: request.reuse.nonEmpty,
                adversaries: request.evidence(of: Adversary.ofConsumers, make)
            ) { try await make($0, nil) }
        }
        return ConsumerSubject(
            requests: requests, section: { subject.sections[$0.rawValue] }, wrongSections: subject.wrongSections,
            refusingSection: subject.refusingSection.nonEmpty, secrets: subject.source,
            secretTexts: subject.secretTexts, upstream: subject.servers(simulator),
            denials: subject.denialsOfServers, noDenials: subject.noDenials.nonEmpty)
    }
}

extension Assay_Plugin_V1_SubjectResponse {
    /// The servers that the plugin calls; nil for none.
    fileprivate func servers(
        _ simulator: ProcessSimulator
    ) -> (@Sendable (OutboundRequest) async -> OutboundResponse)? {
        guard callsServers else { return nil }
        return { await simulator.respond($0) }
    }

    /// How those servers say "no".
    fileprivate var denialsOfServers: [UpstreamDenial] {
        denials.map { denial in
            UpstreamDenial(
                "no with status \(denial.status)",
                OutboundResponse(
                    status: Int(denial.status), headers: denial.headers.map { OutboundHeader($0.name, $0.value) },
                    body: Array(denial.body)))
        }
    }

    /// The secrets that the sections name.
    fileprivate var source: SecretSource {
        let values = Dictionary(
            secrets.compactMap { secret in SecretReference(secret.reference).map { ($0, Array(secret.value)) } },
            uniquingKeysWith: { first, _ in first })
        return SecretSource { reference in values[reference] }
    }

    /// The values that can be told from other words.
    fileprivate var secretTexts: [String] {
        secrets.compactMap { String(validating: $0.value, as: UTF8.self) }.filter { $0.utf8.count >= 6 }
    }
}

extension Assay_Plugin_V1_TestRequest {
    /// The requests that must be refused.
    ///
    /// - Parameter known: the kinds whose rules the suite knows.
    fileprivate func evidence<Maker: Sendable, Made: Sendable>(
        of known: [Adversary], _ make: @escaping @Sendable (Maker, String?) async throws -> Made
    ) -> [Adversary: AdversaryEvidence<Maker, Made>] {
        let pairs = adversaries.map { adversary -> (Adversary, AdversaryEvidence<Maker, Made>) in
            let name = adversary.name
            let kind =
                known.first { $0.name.isExactly(name) }
                ?? Adversary(HostService.line(name, limit: 40), "a request that the plugin names so is refused")
            if let why = adversary.impossible.nonEmpty { return (kind, .impossible(HostService.line(why, limit: 200))) }
            // Two reasons are one when their codes are.
            return (kind, .request(adversary.reason.nonEmpty.map { Reason($0, "") }) { try await make($0, name) })
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
#endif
