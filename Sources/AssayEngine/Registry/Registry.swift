public import AssayCore
public import AssayKit
internal import AssayPolicy
internal import AssayVerifier

/// The plugins that a program is built with.
///
/// If two plugins share a name, a method, an HTTP rule, a reason code, a metric or a scheme of a store, the error names both; so it
/// does if two providers declare one fact with two types.
public struct Registry: Sendable {
    package let providers: [ExactText: ProviderPlugin]
    package let consumers: [ExactText: ConsumerPlugin]
    /// The platform sections that apps can have, in the order of their names.
    package let platforms: [any PlatformSection.Type]
    package let stores: [ExactText: StorePlugin]
    package let sinks: [ExactText: SinkPlugin]
    package let vaults: [ExactText: VaultPlugin]
    /// The methods of the kernel and of every plugin, in the order of registration.
    public let methods: [MethodDescriptor]
    /// How calls of each method are answered, by the methods' names.
    package let routes: [ExactText: MethodRoute]
    /// The plugins that could not be made.
    package let unavailable: [UnavailablePlugin]
    /// The checks that plugins brought along.
    let checks: [(kind: PluginKind, name: String, check: @Sendable () -> String?)]

    /// Registers plugins.
    ///
    /// - Parameters:
    ///   - plugins: every plugin of the program, in any order.
    ///   - administration: the methods of administrators, `.api` of `AssayServices`; nil for a program without them.
    ///   - unoffered: methods of the kind `notOffered`, to which a call gets 501 UNIMPLEMENTED; those with the name or a
    ///     path of an offered method are left out.
    ///   - reserved: the rules and metrics that no plugin may have, because a server has pages there, or counts by them.
    /// - Throws: ``RegistryError`` when plugins conflict, were built for another contract, or declare what cannot be: names that
    ///   are none, limits out of their ranges, facts of the kernel.
    public init(
        _ plugins: [Plugin], administration: Administration? = nil, unoffered: [MethodDescriptor] = [],
        reserved: [ReservedNames] = []
    ) throws(RegistryError) {
        var registration = try Registration(administration, reserved: reserved)
        for plugin in plugins { try registration.add(plugin) }
        registration.addUnoffered(unoffered)
        routes = registration.routes
        providers = registration.providers
        consumers = registration.consumers
        stores = registration.stores
        sinks = registration.sinks
        vaults = registration.vaults
        platforms = registration.platforms.sorted { $0.name.precedesExactly($1.name) }
        methods = registration.methods
        unavailable = registration.unavailable
        checks = registration.checks
    }

    /// The schemes of the registered stores.
    var schemes: [String] { stores.keys.map(\.string) }

    /// The descriptors of the registered consumers, by name.
    public var consumerDescriptors: [PluginDescriptor] {
        consumers.values.map(\.descriptor).sorted { $0.name.precedesExactly($1.name) }
    }

    /// The descriptors of the registered providers, by name.
    public var descriptors: [PluginDescriptor] {
        providers.values.map(\.descriptor).sorted { $0.name.precedesExactly($1.name) }
    }

    /// The descriptors of the registered state stores, by their schemes; the store in memory is not among them.
    public var storeDescriptors: [StorageDescriptor] { stores.values.map(\.descriptor).sortedByScheme }

    /// The descriptors of the registered sinks for decisions, by their schemes.
    public var sinkDescriptors: [StorageDescriptor] { sinks.values.map(\.descriptor).sortedByScheme }

    /// The descriptors of the registered key vaults, by their schemes.
    public var vaultDescriptors: [StorageDescriptor] { vaults.values.map(\.descriptor).sortedByScheme }

    /// The permissions that a policy can grant.
    public var permissions: Set<Permission> {
        Set(methods.compactMap(\.permission)).union([.admin, .denyList, .mintTokens, .readDecisions, .verifyTokens])
    }

    /// Every reason that a refusal can have, the kernel's first: the codes in audit records and metrics.
    public var reasons: [Reason] {
        KernelReasons.all + (descriptors + consumerDescriptors).flatMap(\.reasons)
    }
}

extension Registry {
    /// The name of the provider that a method belongs to; nil for the kernel's own methods, and for unknown ones.
    public func provider(of method: String) -> String? {
        routes[method]?.provider
    }

    /// The names of providers in tokens and records: the registered ones, and the one for tokens that were minted
    /// without evidence.
    public var providerNames: [String] { descriptors.map(\.name) + [MintedTokens.provider] }

    /// The name of the provider or the consumer that a method belongs to; nil for the kernel's own methods, and for unknown
    /// ones.
    public func plugin(of method: String) -> String? {
        guard let route = routes[method] else { return nil }
        if case .consumer(let consumer) = route.target { return consumer.descriptor.name }
        return route.provider
    }
}

extension Registry {
    /// The metrics that the kernel records in every program.
    package static let kernelMetrics =
        [
            ClockWatch.jumps, IssuerKeys.skipped,
        ] + GuardMetrics.all + RuleMetrics.all
}

extension [StorageDescriptor] {
    fileprivate var sortedByScheme: [StorageDescriptor] { sorted { $0.scheme.precedesExactly($1.scheme) } }
}

extension RecordNames {
    /// The names of a program with the plugins of a registry.
    package init(_ registry: Registry) {
        self.init(reasons: registry.reasons.map(\.code), methods: registry.methods.map(\.name))
    }
}

/// How calls of one method are answered.
package struct MethodRoute: Sendable {
    package enum Target: Sendable {
        case keySet
        case tokenExchange
        case kernel(KernelMethod)
        case consumer(ConsumerPlugin)
        /// The provider of the app answers.
        case provider
    }

    package let target: Target
    /// The provider that the method belongs to; nil for the kernel's own and for those of consumers.
    package let provider: String?
    /// The permission that a caller needs; nil when none is required.
    package let permission: Permission?
    /// The fields of its request, if it refuses all others; otherwise nil.
    let closedRequest: ClosedRequest?
}
