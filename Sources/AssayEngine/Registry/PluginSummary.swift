public import AssayCore
public import AssayKit

/// A plugin of a program as a list shows it, with what it declares.
public struct PluginSummary: Sendable {
    /// What the plugin is for.
    public let kind: PluginKind
    /// The plugin's name in policies, or the scheme of a store.
    @Exact public private(set) var name: String
    /// What a provider or a consumer declares; nil for others, and for a plugin that could not be made.
    public let descriptor: PluginDescriptor?
    /// What a store, a sink or a vault declares; nil for others, and for a plugin that could not be made.
    public let storage: StorageDescriptor?
    /// The plugin's methods, with those that the kernel answers for it.
    public let methods: [MethodDescriptor]
    /// What is questionable about the plugin, such as an old contract, in words for an operator.
    @Exact public private(set) var warnings: [String]
    /// Why the plugin could not be made when the program started; nil for others.
    @Exact public private(set) var unavailable: String?

    fileprivate init(
        _ kind: PluginKind, _ name: String, descriptor: PluginDescriptor? = nil, storage: StorageDescriptor? = nil,
        methods: [MethodDescriptor] = [], warnings: [String] = [], unavailable: String? = nil
    ) {
        self.kind = kind
        self.descriptor = descriptor
        self.storage = storage
        self.methods = methods
        self.name = name
        self.warnings = warnings
        self.unavailable = unavailable
    }

    /// The plugin's own version; empty when it has none.
    public var version: String { descriptor?.version ?? storage?.version ?? "" }
}

extension Registry {
    /// Every plugin of the program: providers, consumers, stores, sinks and vaults, each in the order of their names.
    public var plugins: [PluginSummary] {
        let providers = descriptors.map { listed(.provider, $0) }
        let consumers = consumerDescriptors.map { listed(.consumer, $0) }
        let storage =
            storeDescriptors.map { listed(.store, $0) } + sinkDescriptors.map { listed(.sink, $0) }
            + vaultDescriptors.map { listed(.vault, $0) }
        let others = unavailable.map { PluginSummary($0.kind, $0.name, unavailable: $0.reason) }
        let all = providers + consumers + storage + others
        return PluginKind.allCases.flatMap { kind in
            all.filter { $0.kind == kind }.sorted { $0.name.precedesExactly($1.name) }
        }
    }

    /// The health of every plugin, as far as it is known without an engine, in the order of ``plugins``.
    ///
    /// `Engine.pluginHealth` also knows of calls that fail.
    public var health: [PluginHealth] {
        plugins.map { plugin in
            if let reason = plugin.unavailable {
                return PluginHealth(plugin.kind, plugin.name, state: .unavailable, reason: reason)
            }
            let checked = checks.first { $0.kind == plugin.kind && $0.name.isExactly(plugin.name) }?.check()
            guard let reason = checked.map({ PlainText.line($0) }) else {
                return PluginHealth(plugin.kind, plugin.name, version: plugin.version)
            }
            return PluginHealth(plugin.kind, plugin.name, version: plugin.version, state: .failing, reason: reason)
        }
    }

    /// What is questionable about the plugins, such as a contract that the next version refuses.
    public var warnings: [String] { plugins.flatMap(\.warnings) }

    /// Why a plugin that policies or options name is missing; nil for one that is there, and for an unknown one.
    package func unavailable(_ kind: PluginKind, _ name: String) -> String? {
        unavailable.first { $0.kind == kind && $0.name.isExactly(name) }?.reason
    }

    private func listed(_ kind: PluginKind, _ descriptor: StorageDescriptor) -> PluginSummary {
        let (contract, present) = (descriptor.contract, StorageDescriptor.currentContract)
        guard contract < present else { return PluginSummary(kind, descriptor.scheme, storage: descriptor) }
        let change = kind == .store ? "let `open` take a StorageHost, and say" : "say"
        let warning = """
            the \(kind.rawValue) \(descriptor.scheme) was built for contract \(contract), which the next version will refuse: \
            \(change) contract \(present)
            """
        return PluginSummary(kind, descriptor.scheme, storage: descriptor, warnings: [warning])
    }

    private func listed(_ kind: PluginKind, _ descriptor: PluginDescriptor) -> PluginSummary {
        let methods = methods.filter { plugin(of: $0.name).isExactly(descriptor.name) }
        let warning = DescriptorRules(kind: kind, descriptor: descriptor, typeName: "", methods: []).warning
        return PluginSummary(
            kind, descriptor.name, descriptor: descriptor, methods: methods, warnings: warning.map { [$0] } ?? [])
    }
}
