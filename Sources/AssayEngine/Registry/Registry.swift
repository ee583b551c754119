public import AssayCore
public import AssayKit
internal import AssayPolicy

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
    ///   - unoffered: methods of the kind `notOffered`, to which a call gets 501 UNIMPLEMENTED; those with the name or a
    ///     path of an offered method are left out.
    ///   - reserved: the rules and metrics that no plugin may have, because a server has pages there, or counts by them.
    /// - Throws: ``RegistryError`` when plugins conflict, were built for another contract, or declare what cannot be: names that
    ///   are none, limits out of their ranges, facts of the kernel.
    public init(
        _ plugins: [Plugin], unoffered: [MethodDescriptor] = [], reserved: [ReservedNames] = []
    ) throws(RegistryError) {
        var providers: [ExactText: ProviderPlugin] = [:]
        var stores: [ExactText: StorePlugin] = [:]
        var sinks: [ExactText: SinkPlugin] = [:]
        var vaults: [ExactText: VaultPlugin] = [:]
        var kernelMethods = KernelMethods.all
        var methods = [KernelMethods.keySet, TokenExchange.method] + KernelMethods.all.map(\.descriptor)
        var claims = NameClaims()
        var rules = RouteClaims()
        var facts = FactClaims()
        for reason in KernelReasons.all { try claims.claim("the reason", reason.code, by: "the kernel") }
        for metric in Registry.kernelMetrics { try claims.claim("the metric", metric.name, by: "the kernel") }
        for method in methods {
            try claims.claim("the method", method.name, by: "the kernel")
            try rules.claim(method, by: "the kernel")
        }
        for names in reserved {
            for rule in names.rules { try rules.claim(rule, by: names.owner) }
            for metric in names.metrics { try claims.claim("the metric", metric.name, by: names.owner) }
        }
        try claims.claimScheme(.store, "memory", by: "the kernel")
        try claims.claim("the provider name", MintedTokens.provider, by: "the kernel")
        for key in AppKeys.all { try claims.claim("the key of an app", key, by: "the kernel") }
        var platforms: [any PlatformSection.Type] = []
        var owners: [ExactText: String] = [:]
        var consumers: [ExactText: ConsumerPlugin] = [:]
        var consumerMethods: [ExactText: ConsumerPlugin] = [:]
        var unavailable: [UnavailablePlugin] = []
        var checks: [(kind: PluginKind, name: String, check: @Sendable () -> String?)] = []
        for plugin in plugins {
            if let check = plugin.check { checks.append((plugin.name.kind, plugin.name.text, check)) }
            switch plugin.kind {
            case .provider(let provider):
                let descriptor = provider.descriptor
                try provider.rules.check()
                try claims.claim(.provider, descriptor, methods: provider.methods, by: provider.typeName)
                for method in provider.methods { try rules.claim(method, by: provider.typeName) }
                try facts.claim(descriptor)
                providers[descriptor.name] = provider
                for platform in descriptor.platforms where !platforms.contains(where: { $0 == platform }) {
                    try claims.claim("the key of an app", platform.name, by: "\(platform)")
                    platforms.append(platform)
                }
                methods += provider.methods
                for method in provider.methods { owners[method.name] = descriptor.name }
                for method in provider.configMethods {
                    try claims.claim("the method", method.descriptor.name, by: provider.typeName)
                    try rules.claim(method.descriptor, by: provider.typeName)
                    owners[method.descriptor.name] = descriptor.name
                    kernelMethods.append(method)
                    methods.append(method.descriptor)
                }
            case .consumer(let consumer):
                let descriptor = consumer.descriptor
                try consumer.rules.check()
                try claims.claim(.consumer, descriptor, methods: consumer.methods, by: consumer.typeName)
                for method in consumer.methods { try rules.claim(method, by: consumer.typeName) }
                consumers[descriptor.name] = consumer
                methods += consumer.methods
                for method in consumer.methods { consumerMethods[method.name] = consumer }
            case .store(let store):
                try claims.claim(.store, store.descriptor, by: store.typeName)
                stores[store.descriptor.scheme] = store
            case .unavailable(let plugin):
                let owner = "the unavailable \(plugin.kind.rawValue) \(PlainText.line(plugin.name, limit: 80))"
                guard PlainText.isWord(plugin.name) else {
                    throw RegistryError("\(owner): a name is lower-case letters, digits and underscores, at most 64")
                }
                switch plugin.kind {
                case .provider, .consumer: try claims.claim(plugin.kind, plugin.name, by: owner)
                case .store, .sink, .vault: try claims.claimScheme(plugin.kind, plugin.name, by: owner)
                }
                unavailable.append(plugin)
            case .sink(let sink):
                try claims.claim(.sink, sink.descriptor, by: sink.typeName)
                sinks[sink.descriptor.scheme] = sink
            case .vault(let vault):
                try claims.claim(.vault, vault.descriptor, by: vault.typeName)
                vaults[vault.descriptor.scheme] = vault
            }
        }
        let unoffered = UnofferedMethods.all(unoffered, beside: methods, rules)
        kernelMethods += unoffered
        methods += unoffered.map(\.descriptor)
        self.providers = providers
        self.consumers = consumers
        self.stores = stores
        self.sinks = sinks
        self.vaults = vaults
        self.platforms = platforms.sorted { $0.name.precedesExactly($1.name) }
        self.methods = methods
        self.unavailable = unavailable
        self.checks = checks
        var targets: [ExactText: MethodRoute.Target] = [
            ExactText(KernelMethods.keySet.name): .keySet, ExactText(TokenExchange.method.name): .tokenExchange,
        ]
        for method in kernelMethods { targets[method.descriptor.name] = .kernel(method) }
        for (name, consumer) in consumerMethods { targets[name] = .consumer(consumer) }
        routes = methods.reduce(into: [:]) { routes, method in
            routes[method.name] = MethodRoute(
                target: targets[method.name] ?? .provider, provider: owners[method.name],
                permission: method.permission, closedRequest: ClosedRequest(method))
        }
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

    /// The permissions that a policy can grant.
    public var permissions: Set<Permission> {
        Set(methods.compactMap(\.permission)).union([.admin, .mintTokens, .verifyTokens])
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
