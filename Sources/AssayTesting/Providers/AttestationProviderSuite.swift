public import AssayEngine
public import AssayKit
public import AssayPolicyTools

/// What every `AttestationProvider` promises, as checks for the author of a provider.
///
///     let suite = AttestationProviderSuite(DoorLockProvider.self, subject)
///     #expect(await suite.report(.quick).failures == [])
///
/// The author says how a genuine device makes evidence (``ProviderSubject``). The suite runs an engine with the provider,
/// derives hostile evidence from genuine one, and looks at what the engine answers, records and logs. The article *Conformance*
/// lists the checks, and says what the suite does not look at.
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
