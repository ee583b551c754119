public import AssayCore

/// A kind of evidence: appraises what a client presents to prove that it is a genuine app on a genuine device.
///
/// There is one instance for each app whose policy names the provider, made when the policy snapshot is built and used
/// by many requests at once until the next snapshot replaces it. An implementer keeps these promises:
///
/// - evidence is hostile: no input may crash, block or grow the process;
/// - insufficient evidence is a ``Verdict/refused(_:detail:facts:)`` with a reason that the descriptor lists;
/// - an error that prevents a decision is thrown, and never becomes a verdict;
/// - time, randomness, storage, secrets and outbound calls come from the ``PluginHost`` or the ``ProviderContext``;
/// - state that must survive goes through the ``ProviderContext``: a change of policies replaces instances.
///
/// The kernel does the rest: resources, policies, challenges, limited use, tokens, replay, audit, deadlines, limits.
public protocol AttestationProvider: Sendable {
    /// The provider's section of a policy; `DescribedConfiguration` explains its keys to editors.
    associatedtype Configuration: Decodable & Sendable

    /// The provider's name, reasons, facts and limits.
    static var descriptor: PluginDescriptor { get }

    /// The methods that clients call.
    static var methods: [ProviderMethod<Self>] { get }

    /// Makes the instance for one app, and checks the rules that decoding does not check.
    ///
    /// - Throws: the errors in the section, by the paths of their keys.
    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError)

    /// The instance's work between calls; nil, the default, for none.
    var maintenance: Maintenance? { get }

    /// Questionable settings that are no reason to refuse the section; none by default.
    var warnings: [ConfigurationWarning] { get }

    /// What is wrong at present although the instance answers, such as a list that became too old, in words for an operator; nil, the
    /// default, for nothing.
    ///
    /// `/readyz` is degraded meanwhile. It is asked whenever somebody looks, so that it must not wait.
    var problem: String? { get }
}

extension AttestationProvider {
    /// No maintenance.
    public var maintenance: Maintenance? { nil }
    /// No warnings.
    public var warnings: [ConfigurationWarning] { [] }
    /// No problem.
    public var problem: String? { nil }
}
