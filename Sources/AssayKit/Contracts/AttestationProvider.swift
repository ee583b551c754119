/// A kind of evidence: appraises what a client shows to prove that it is a genuine app on a genuine device.
///
/// There is one instance for each app whose policy names the provider, made when the policy snapshot is built and used
/// by many requests at once until the next snapshot replaces it. An implementer keeps these promises:
///
/// - evidence is hostile: no input may crash, block or grow the process;
/// - evidence that is not good enough is a ``Verdict/refused(_:detail:)`` with a reason that the descriptor lists;
/// - whatever prevents a decision is thrown, and never becomes a verdict;
/// - time, randomness, storage, secrets and calls to other servers come from the ``PluginHost`` or the ``ProviderContext``;
/// - state that must survive goes through the ``ProviderContext``: instances come and go with policies.
///
/// The kernel does the rest: resources, policies, challenges, limited use, tokens, replay, audit, deadlines, limits.
public protocol AttestationProvider: Sendable {
    /// The provider's own section of a policy, in its own words. A `CodingKeys` enumeration names the keys; a
    /// ``DescribedConfiguration`` explains them to editors.
    associatedtype Configuration: Decodable & Sendable

    /// What the provider says of itself.
    static var descriptor: PluginDescriptor { get }

    /// The methods that clients call.
    static var methods: [ProviderMethod<Self>] { get }

    /// Makes the instance for one app, and checks what decoding alone could not.
    ///
    /// - Throws: what is wrong in the section, by the path of its key.
    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError)

    /// What the instance does between calls; nil, the default, for nothing.
    var maintenance: Maintenance? { get }

    /// What is questionable in the section now, and no reason to refuse it; nothing, by default.
    var warnings: [ConfigurationWarning] { get }
}

extension AttestationProvider {
    public var maintenance: Maintenance? { nil }
    public var warnings: [ConfigurationWarning] { [] }
}
