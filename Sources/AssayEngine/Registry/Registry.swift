public import AssayCore
public import AssayKit
internal import AssayPolicy
public import AssayState

/// The plugins that a program is built with.
///
/// If two plugins share a name, a method, a reason code, a metric or a scheme of a store, the error names both.
public struct Registry: Sendable {
    let providers: [ExactText: ProviderPlugin]
    let consumers: [ExactText: ConsumerPlugin]
    /// The platform sections that apps can have, in the order of their names.
    let platforms: [any PlatformSection.Type]
    let stores: [ExactText: StorePlugin]
    let sinks: [ExactText: SinkPlugin]
    let vaults: [ExactText: VaultPlugin]
    /// The methods of the kernel and of every plugin, in the order of registration.
    public let methods: [MethodDescriptor]
    /// How calls of each method are answered, by the methods' names.
    let routes: [ExactText: MethodRoute]

    /// Registers plugins.
    ///
    /// - Parameters:
    ///   - plugins: every plugin of the program, in any order.
    ///   - unoffered: methods of the kind `notOffered`, to which a call gets 501 UNIMPLEMENTED; those with the name or a
    ///     path of an offered method are left out.
    /// - Throws: ``RegistryError`` when plugins conflict, or were built for another contract.
    public init(_ plugins: [Plugin], unoffered: [MethodDescriptor] = []) throws(RegistryError) {
        var providers: [ExactText: ProviderPlugin] = [:]
        var stores: [ExactText: StorePlugin] = [:]
        var sinks: [ExactText: SinkPlugin] = [:]
        var vaults: [ExactText: VaultPlugin] = [:]
        var kernelMethods = KernelMethods.all
        var methods = [KernelMethods.keySet, TokenExchange.method] + KernelMethods.all.map(\.descriptor)
        var claims = Claims()
        try claims.claim("the store", "memory", by: "the kernel")
        try claims.claim("the key vault", FileKeyVault.descriptor.scheme, by: "the kernel")
        for reason in KernelReasons.all { try claims.claim("the reason", reason.code, by: "the kernel") }
        for method in methods { try claims.claim("the method", method.name, by: "the kernel") }
        try claims.claim("the provider name", MintedTokens.provider, by: "the kernel")
        for key in AppKeys.all { try claims.claim("the key of an app", key, by: "the kernel") }
        var platforms: [any PlatformSection.Type] = []
        var owners: [ExactText: String] = [:]
        var consumers: [ExactText: ConsumerPlugin] = [:]
        var consumerMethods: [ExactText: ConsumerPlugin] = [:]
        for plugin in plugins {
            switch plugin.kind {
            case .provider(let provider):
                let descriptor = provider.descriptor
                try claims.claim(
                    "provider", descriptor, provider.typeName, methods: provider.methods)
                providers[descriptor.name] = provider
                for platform in descriptor.platforms where !platforms.contains(where: { $0 == platform }) {
                    try claims.claim("the key of an app", platform.name, by: "\(platform)")
                    platforms.append(platform)
                }
                methods += provider.methods
                for method in provider.methods { owners[method.name] = descriptor.name }
                for method in provider.configMethods {
                    try claims.claim("the method", method.descriptor.name, by: provider.typeName)
                    owners[method.descriptor.name] = descriptor.name
                    kernelMethods.append(method)
                    methods.append(method.descriptor)
                }
            case .consumer(let consumer):
                let descriptor = consumer.descriptor
                try claims.claim(
                    "consumer", descriptor, consumer.typeName, methods: consumer.methods)
                consumers[descriptor.name] = consumer
                methods += consumer.methods
                for method in consumer.methods { consumerMethods[method.name] = consumer }
            case .store(let store):
                try claims.claim("store", store.descriptor, store.typeName)
                stores[store.descriptor.scheme] = store
            case .sink(let sink):
                try claims.claim("sink", sink.descriptor, sink.typeName)
                sinks[sink.descriptor.scheme] = sink
            case .vault(let vault):
                try claims.claim("key vault", vault.descriptor, vault.typeName)
                vaults[vault.descriptor.scheme] = vault
            }
        }
        let unoffered = UnofferedMethods.all(unoffered, beside: methods)
        kernelMethods += unoffered
        methods += unoffered.map(\.descriptor)
        self.providers = providers
        self.consumers = consumers
        self.stores = stores
        self.sinks = sinks
        self.vaults = vaults
        self.platforms = platforms.sorted { $0.name.precedesExactly($1.name) }
        self.methods = methods
        var targets: [ExactText: MethodRoute.Target] = [
            ExactText(KernelMethods.keySet.name): .keySet, ExactText(TokenExchange.method.name): .tokenExchange,
        ]
        for method in kernelMethods { targets[method.descriptor.name] = .kernel(method) }
        for (name, consumer) in consumerMethods { targets[name] = .consumer(consumer) }
        routes = methods.reduce(into: [:]) { routes, method in
            routes[method.name] = MethodRoute(
                target: targets[method.name] ?? .provider, provider: owners[method.name],
                permission: method.permission)
        }
    }

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

/// How calls of one method are answered.
struct MethodRoute: Sendable {
    enum Target: Sendable {
        case keySet
        case tokenExchange
        case kernel(KernelMethod)
        case consumer(ConsumerPlugin)
        /// The provider of the app answers.
        case provider
    }

    let target: Target
    /// The provider that the method belongs to; nil for the kernel's own and for those of consumers.
    let provider: String?
    /// The permission that a caller needs; nil when none is required.
    let permission: Permission?
}

/// The owner of each name.
private struct Claims {
    private var owners: [ExactText: String] = [:]

    mutating func claim(_ what: String, _ name: String, by owner: String) throws(RegistryError) {
        let key = "\(what) '\(name)'"
        if let other = owners[key] { throw RegistryError("\(key) is claimed by both \(other) and \(owner)") }
        owners[key] = owner
    }

    /// Claims all names of a plugin.
    ///
    /// - Parameter kind: `provider` or `consumer`.
    mutating func claim(
        _ kind: String, _ descriptor: PluginDescriptor, _ typeName: String, methods: [MethodDescriptor]
    ) throws(RegistryError) {
        guard (PluginDescriptor.oldestContract...PluginDescriptor.currentContract).contains(descriptor.contract) else {
            throw RegistryError(
                "the \(kind) \(typeName) was built for contract \(descriptor.contract), and this "
                    + "kernel speaks contract \(PluginDescriptor.currentContract)")
        }
        guard Claims.isWord(descriptor.name) else {
            throw RegistryError(
                "the \(kind) \(typeName) is named '\(descriptor.name)': a name is lower-case "
                    + "letters, digits and underscores")
        }
        try claim("the \(kind) name", descriptor.name, by: typeName)
        // Providers and consumers share one namespace of metrics and of the state store.
        try claim("the plugin name", descriptor.name, by: typeName)
        for method in methods { try claim("the method", method.name, by: typeName) }
        for reason in descriptor.reasons { try claim("the reason", reason.code, by: typeName) }
        for metric in descriptor.metrics {
            if let problem = metric.problem { throw RegistryError("\(typeName): \(problem)") }
            try claim("the metric", "\(descriptor.name)_\(metric.name)", by: typeName)
        }
    }

    /// Claims the scheme of a store, a sink or a vault.
    ///
    /// - Parameter kind: `store`, `sink` or `key vault`.
    mutating func claim(
        _ kind: String, _ descriptor: StorageDescriptor, _ typeName: String
    ) throws(RegistryError) {
        let known = StorageDescriptor.oldestContract...StorageDescriptor.currentContract
        guard known.contains(descriptor.contract) else {
            throw RegistryError(
                "the \(kind) \(typeName) was built for contract \(descriptor.contract), and this kernel speaks "
                    + "contract \(StorageDescriptor.currentContract)")
        }
        guard Claims.isWord(descriptor.scheme) else {
            throw RegistryError(
                "the \(kind) \(typeName) has the scheme '\(descriptor.scheme)': a scheme is lower-case letters, digits "
                    + "and underscores")
        }
        try claim("the \(kind)", descriptor.scheme, by: typeName)
    }

    private static func isWord(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }
}

/// The reason why plugins cannot work together.
public struct RegistryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in words.
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
