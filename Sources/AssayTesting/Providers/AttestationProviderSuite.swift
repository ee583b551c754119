public import AssayEngine
public import AssayKit
public import AssayPolicyTools

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
///
/// A plugin in a process of its own has one more, `restart`: a killed process is replaced, and what was used stays used.
public struct AttestationProviderSuite<Provider: AttestationProvider>: SimulatingSuite {
    let checks: ProviderChecks

    /// Makes the suite of a provider.
    public init(_ type: Provider.Type, _ subject: ProviderSubject) {
        checks = ProviderChecks(
            ProviderChecks.Provider(
                plugin: .provider(type), descriptor: type.descriptor, methods: type.methods.map(\.descriptor),
                section: type.Configuration.self), subject)
    }

    /// `provider`.
    public var kind: PluginKind { checks.kind }
    /// The provider's name in policies.
    public var name: String { checks.name }

    /// What makes evidence for tests of policies.
    public var simulator: (any EvidenceSimulator)? { checks.subject.simulator }

    /// Runs all checks.
    public func report(_ effort: ConformanceEffort) async -> ConformanceReport { await checks.report(effort) }
}
