package import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

/// A provider with erased types: what it declares, and how an instance is made from a policy.
package struct ProviderPlugin: Sendable {
    package let descriptor: PluginDescriptor
    let pluginGuard: PluginGuard
    let typeName: String
    package let methods: [MethodDescriptor]
    /// The name of the resource that shows its settings; nil when it has none.
    let config: (name: String, standard: JSON)?
    /// The type that a section of a policy is decoded to; nil for a plugin without one.
    package let configuration: (any (Decodable & Sendable).Type)?
    /// The shape of the section of a policy.
    package let section: @Sendable () -> ValueShape
    /// Reports the errors of a section that can be found without an instance.
    package let check: @Sendable (PolicySection) throws(Diagnostics) -> Void
    /// Makes an instance for an app, and binds the methods to it; where the host withholds a secret that it needs, there is
    /// no instance, and the methods answer nothing.
    let bind: @Sendable (ProviderPolicy, AppIdentity, PluginHost) throws(Diagnostics) -> Bound

    /// An instance, its methods, and its warnings about its section.
    package struct Bound {
        let provider: ProviderBinding
        let methods: [MethodBinding]
        let warnings: [Diagnostic]
    }

    /// What a registry demands of it.
    var rules: DescriptorRules {
        DescriptorRules(kind: .provider, descriptor: descriptor, typeName: typeName, methods: methods)
    }

    init<P: AttestationProvider>(_ type: P.Type) {
        descriptor = P.descriptor
        let pluginGuard = PluginGuard(P.descriptor)
        self.pluginGuard = pluginGuard
        typeName = "\(type)"
        let declared = P.methods
        let configs = declared.compactMap(\.config)
        let methods = declared.filter { $0.config == nil }.map(\.descriptor)
        self.methods = methods
        config = configs.first.map { ($0.name, $0.standard) }
        configuration = P.Configuration.self
        section = { ValueShape(of: P.Configuration.self) }
        check = { (section) throws(Diagnostics) in _ = try section.decode(P.Configuration.self) }
        bind = { (policy, app, host) throws(Diagnostics) in
            let made = try policy.section.instance(of: pluginGuard, host) {
                (configuration: P.Configuration, host) throws(ConfigurationError) in
                try P(configuration, app: app, host: host)
            }
            guard let instance = made else {
                return try .withheld(policy, of: pluginGuard, for: app, host, methods)
            }
            let provider = try ProviderBinding(
                policy, of: pluginGuard, for: app, host: host, config: configs.first?.fields(instance) ?? [],
                maintenance: instance.maintenance, problem: { instance.problem })
            return Bound(
                provider: provider,
                methods: declared.compactMap { method in
                    method.action.bound(to: instance).map {
                        MethodBinding(descriptor: method.descriptor, provider: provider, action: $0)
                    }
                },
                warnings: policy.section.diagnostics(for: instance.warnings))
        }
    }

    /// A provider that is known as values.
    init(_ foreign: RemoteProvider) {
        descriptor = foreign.descriptor
        let pluginGuard = PluginGuard(foreign.descriptor)
        self.pluginGuard = pluginGuard
        typeName = "another process"
        methods = foreign.methods
        config = nil
        configuration = nil
        section = { .declared(foreign.section) }
        check = { (section) throws(Diagnostics) in _ = try section.json(foreign.section) }
        bind = { (policy, app, host) throws(Diagnostics) in
            let made = try policy.section.instance(of: pluginGuard, host, foreign.section) {
                (section, host) throws(ConfigurationError) in try foreign.make(section, app, host)
            }
            guard let instance = made else {
                return try .withheld(policy, of: pluginGuard, for: app, host, foreign.methods)
            }
            let provider = try ProviderBinding(
                policy, of: pluginGuard, for: app, host: host, config: [], maintenance: instance.maintenance)
            return Bound(
                provider: provider,
                methods: foreign.methods.compactMap { method in
                    instance.answers[ExactText(method.name)].map {
                        MethodBinding(descriptor: method, provider: provider, action: $0.action)
                    }
                },
                warnings: policy.section.diagnostics(for: instance.warnings))
        }
    }
}

extension ProviderPlugin.Bound {
    /// A provider without an instance, because a secret was not read.
    fileprivate static func withheld(
        _ policy: ProviderPolicy, of pluginGuard: PluginGuard, for app: AppIdentity, _ host: PluginHost,
        _ methods: [MethodDescriptor]
    ) throws(Diagnostics) -> ProviderPlugin.Bound {
        let provider = try ProviderBinding(policy, of: pluginGuard, for: app, host: host, config: [], maintenance: nil)
        return ProviderPlugin.Bound(
            provider: provider,
            methods: methods.map { MethodBinding(descriptor: $0, provider: provider, action: .withheld) }, warnings: [])
    }
}

extension RemoteAction {
    fileprivate var action: MethodBinding.Action {
        switch self {
        case .challenge: .challenge
        case .exchange(let prepare): .exchange(prepare)
        case .call(let prepare): .call(prepare)
        }
    }
}

extension ProviderMethod.Action {
    /// The action for one instance; nil for the resource of settings, which the kernel answers.
    fileprivate func bound(to provider: Provider) -> MethodBinding.Action? {
        switch self {
        case .config: nil
        case .challenge: .challenge
        case .exchange(let prepare):
            .exchange { (fields) throws(InvalidRequest) in try prepare(provider, fields) }
        case .call(let prepare):
            .call { (fields) throws(InvalidRequest) in try prepare(provider, fields) }
        }
    }
}
