internal import AssayCore
internal import AssayKit
internal import AssayPolicy

/// The plugins of a registry while they are added, and who has claimed which name.
struct Registration {
    var providers: [ExactText: ProviderPlugin] = [:]
    var consumers: [ExactText: ConsumerPlugin] = [:]
    var platforms: [any PlatformSection.Type] = []
    var stores: [ExactText: StorePlugin] = [:]
    var sinks: [ExactText: SinkPlugin] = [:]
    var vaults: [ExactText: VaultPlugin] = [:]
    private(set) var methods: [MethodDescriptor]
    var unavailable: [UnavailablePlugin] = []
    var checks: [(kind: PluginKind, name: String, check: @Sendable () -> String?)] = []
    private var targets: [ExactText: MethodRoute.Target] = [
        ExactText(KernelMethods.keySet.name): .keySet, ExactText(KernelMethods.issuerMetadata.name): .keySet,
        ExactText(TokenExchange.method.name): .tokenExchange,
    ]
    /// The providers that methods belong to, by the methods' names.
    private var owners: [ExactText: String] = [:]
    private var claims = NameClaims()
    private var rules = RouteClaims()
    private var facts = FactClaims()
    private let administration: Administration?

    /// Claims what is the kernel's, and what a server has pages or metrics for.
    init(_ administration: Administration?, reserved: [ReservedNames]) throws(RegistryError) {
        let kernel = "the kernel"
        let answered = KernelMethods.all + (administration?.methods ?? [])
        methods =
            [KernelMethods.keySet, KernelMethods.issuerMetadata, TokenExchange.method] + answered.map(\.descriptor)
        self.administration = administration
        for reason in KernelReasons.all { try claims.claim("the reason", reason.code, by: kernel) }
        for metric in Registry.kernelMetrics { try claims.claim("the metric", metric.name, by: kernel) }
        for method in methods {
            try claims.claim("the method", method.name, by: kernel)
            try rules.claim(method, by: kernel)
        }
        for method in answered { targets[method.descriptor.name] = .kernel(method) }
        for names in reserved {
            for rule in names.rules { try rules.claim(rule, by: names.owner) }
            for metric in names.metrics { try claims.claim("the metric", metric.name, by: names.owner) }
        }
        try claims.claimScheme(.store, "memory", by: kernel)
        try claims.claim("the provider name", MintedTokens.provider, by: kernel)
        for key in AppKeys.all { try claims.claim("the key of an app", key, by: kernel) }
    }

    /// How calls of each method are answered.
    var routes: [ExactText: MethodRoute] {
        methods.reduce(into: [:]) { routes, method in
            routes[method.name] = MethodRoute(
                target: targets[method.name] ?? .provider, provider: owners[method.name],
                permission: method.permission, closedRequest: method.refusesUnknownFields ? ClosedRequest(method) : nil)
        }
    }

    mutating func add(_ plugin: Plugin) throws(RegistryError) {
        if let check = plugin.check { checks.append((plugin.name.kind, plugin.name.text, check)) }
        switch plugin.kind {
        case .provider(let provider): try add(provider)
        case .consumer(let consumer): try add(consumer)
        case .store(let store):
            try claims.claim(.store, store.descriptor, by: store.typeName)
            stores[store.descriptor.scheme] = store
        case .sink(let sink):
            try claims.claim(.sink, sink.descriptor, by: sink.typeName)
            sinks[sink.descriptor.scheme] = sink
        case .vault(let vault):
            try claims.claim(.vault, vault.descriptor, by: vault.typeName)
            vaults[vault.descriptor.scheme] = vault
        case .unavailable(let plugin): try add(plugin)
        }
    }

    private func check(_ rules: DescriptorRules) throws(RegistryError) {
        do throws(DescriptorProblem) {
            try rules.check(reserved: FactName.ofKernel)
        } catch {
            throw RegistryError(error.message)
        }
    }

    private mutating func add(_ provider: ProviderPlugin) throws(RegistryError) {
        let (descriptor, owner) = (provider.descriptor, provider.typeName)
        try check(provider.rules)
        try claims.claim(.provider, descriptor, methods: provider.methods, by: owner)
        for method in provider.methods { try rules.claim(method, by: owner) }
        try facts.claim(descriptor)
        providers[descriptor.name] = provider
        for platform in descriptor.platforms where !platforms.contains(where: { $0 == platform }) {
            try claims.claim("the key of an app", platform.name, by: "\(platform)")
            platforms.append(platform)
        }
        let settings = provider.config.flatMap { administration?.settings(descriptor.name, $0.name, $0.standard) } ?? []
        for method in settings {
            try claims.claim("the method", method.descriptor.name, by: owner)
            try rules.claim(method.descriptor, by: owner)
            targets[method.descriptor.name] = .kernel(method)
        }
        let own = provider.methods + settings.map(\.descriptor)
        for method in own { owners[method.name] = descriptor.name }
        methods += own
    }

    private mutating func add(_ consumer: ConsumerPlugin) throws(RegistryError) {
        let (descriptor, owner) = (consumer.descriptor, consumer.typeName)
        try check(consumer.rules)
        try claims.claim(.consumer, descriptor, methods: consumer.methods, by: owner)
        for method in consumer.methods { try rules.claim(method, by: owner) }
        consumers[descriptor.name] = consumer
        methods += consumer.methods
        for method in consumer.methods { targets[method.name] = .consumer(consumer) }
    }

    private mutating func add(_ plugin: UnavailablePlugin) throws(RegistryError) {
        let owner = "the unavailable \(plugin.kind.rawValue) \(PlainText.line(plugin.name, limit: 80))"
        guard PlainText.isWord(plugin.name) else {
            throw RegistryError("\(owner): a name is lower-case letters, digits and underscores, at most 64")
        }
        switch plugin.kind {
        case .provider, .consumer: try claims.claim(plugin.kind, plugin.name, by: owner)
        case .store, .sink, .vault: try claims.claimScheme(plugin.kind, plugin.name, by: owner)
        }
        unavailable.append(plugin)
    }

    /// Adds methods that get 501, except those with the name or a path of another one.
    mutating func addUnoffered(_ unoffered: [MethodDescriptor]) {
        let added = UnofferedMethods.all(unoffered, beside: methods, rules, administration)
        for method in added { targets[method.descriptor.name] = .kernel(method) }
        methods += added.map(\.descriptor)
    }
}
