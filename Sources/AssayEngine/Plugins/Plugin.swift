internal import AssayCore
public import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// A plugin for a ``Registry``, with erased types.
public struct Plugin: Sendable {
    enum Kind: Sendable {
        case provider(ProviderPlugin)
        case consumer(ConsumerPlugin)
        case store(StorePlugin)
        case unavailable(UnavailablePlugin)
        case sink(SinkPlugin)
        case vault(VaultPlugin)
    }

    let kind: Kind
    /// Says why the plugin cannot do its work; nil for a plugin without such a check.
    private(set) var check: (@Sendable () -> String?)?

    init(kind: Kind) {
        self.kind = kind
    }

    /// A provider, for one kind of evidence.
    public static func provider<P: AttestationProvider>(_ type: P.Type) -> Plugin {
        Plugin(kind: .provider(ProviderPlugin(type)))
    }

    /// A provider that is known as values, such as one in another process.
    package static func provider(_ foreign: RemoteProvider) -> Plugin {
        Plugin(kind: .provider(ProviderPlugin(foreign)))
    }

    /// A consumer that is known as values.
    package static func consumer(_ foreign: RemoteConsumer) -> Plugin {
        Plugin(kind: .consumer(ConsumerPlugin(foreign)))
    }

    /// A consumer of tokens.
    public static func consumer<C: TokenConsumer>(_ type: C.Type) -> Plugin {
        Plugin(kind: .consumer(ConsumerPlugin(type)))
    }

    /// A state store.
    public static func store<S: StateStorePlugin>(_ type: S.Type) -> Plugin {
        Plugin(kind: .store(StorePlugin(type)))
    }

    /// A sink for the records of decisions.
    public static func sink<S: DecisionSinkPlugin>(_ type: S.Type) -> Plugin {
        Plugin(kind: .sink(SinkPlugin(type)))
    }

    /// A vault for the keys of the service.
    public static func vault<V: KeyVaultPlugin>(_ type: V.Type) -> Plugin {
        Plugin(kind: .vault(VaultPlugin(type)))
    }
}

extension Plugin {
    /// A plugin that cannot be made here, such as one of another process whose command is missing.
    ///
    /// The program starts without it. Policies that name it are refused with the reason at their place, and the reason is shown
    /// by `/readyz`, by `/plugins` and by `assay plugins list`.
    ///
    /// - Parameters:
    ///   - name: the name in policies; the scheme of a store.
    ///   - reason: why it cannot be made, in words for an operator; without secrets.
    public static func unavailable(_ kind: PluginKind, name: String, reason: String) -> Plugin {
        Plugin(kind: .unavailable(UnavailablePlugin(kind: kind, name: name, reason: PlainText.line(reason))))
    }

    /// The same plugin with a check of its health, such as whether its process runs.
    ///
    /// - Parameter check: why the plugin cannot do its work at present, in words for an operator; nil when it can. It is called
    ///   for each page of health, by any thread, and must not wait.
    public func checkingHealth(_ check: @escaping @Sendable () -> String?) -> Plugin {
        var plugin = self
        plugin.check = check
        return plugin
    }
}

extension Plugin {
    /// The kind and the name of the plugin.
    var name: (kind: PluginKind, text: String) {
        switch kind {
        case .provider(let plugin): (.provider, plugin.descriptor.name)
        case .consumer(let plugin): (.consumer, plugin.descriptor.name)
        case .store(let plugin): (.store, plugin.descriptor.scheme)
        case .sink(let plugin): (.sink, plugin.descriptor.scheme)
        case .vault(let plugin): (.vault, plugin.descriptor.scheme)
        case .unavailable(let plugin): (plugin.kind, plugin.name)
        }
    }
}

/// A plugin that could not be made.
package struct UnavailablePlugin: Sendable {
    let kind: PluginKind
    let name: String
    let reason: String
}

extension PolicySection {
    /// Makes an instance of the plugin from its section, with what the plugin has of the host.
    ///
    /// - Throws: the errors of the section, at their places.
    /// - Returns: nil where the host withholds a secret that the instance needs.
    func instance<Configuration: Decodable, Instance>(
        of plugin: PluginGuard, _ host: PluginHost,
        _ make: (Configuration, PluginHost) throws(ConfigurationError) -> Instance
    ) throws(Diagnostics) -> Instance? {
        let configuration = try decode(Configuration.self)
        return try making(host) { (host) throws(ConfigurationError) in try make(configuration, plugin.host(host)) }
    }

    /// The same for a section whose keys are known as values.
    func instance<Instance>(
        of plugin: PluginGuard, _ host: PluginHost, _ shape: DeclaredShape,
        _ make: (JSON, PluginHost) throws(ConfigurationError) -> Instance
    ) throws(Diagnostics) -> Instance? {
        let section = try json(shape)
        return try making(host) { (host) throws(ConfigurationError) in try make(section, plugin.host(host)) }
    }

    /// Makes something of the section that may need secrets.
    ///
    /// - Throws: the errors at their places, without those that follow from a secret that the host withholds.
    /// - Returns: nil when such a secret is all that is missing.
    func making<Instance>(
        _ host: PluginHost, _ make: (PluginHost) throws(ConfigurationError) -> Instance
    ) throws(Diagnostics) -> Instance? {
        let list = host.secrets.withheld
        let own = WithheldSecrets()
        var host = host
        if list != nil { host.secrets = .withholding(own) }
        defer { list?.add(own) }
        do throws(ConfigurationError) {
            return try make(host)
        } catch {
            let withheld = Set(own.references.map { ExactText($0.description) })
            var problems = ConfigurationProblems()
            for error in error.all
            where withheld.isEmpty
                || !WithheldSecrets.isNamed(in: error.message) && !contains(anyOf: withheld, at: error.path)
            {
                problems.report(error)
            }
            do throws(ConfigurationError) {
                try problems.throwIfAny()
            } catch {
                throw diagnostics(for: error)
            }
            return nil
        }
    }
}
