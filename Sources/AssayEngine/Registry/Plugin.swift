internal import AssayCore
public import AssayHosting
public import AssayKit
internal import AssayPolicy
public import AssayState
internal import AssayYAML

/// A plugin for a ``Registry``, with erased types.
public struct Plugin: Sendable {
    enum Kind: Sendable {
        case provider(ProviderPlugin)
        case consumer(ConsumerPlugin)
        case store(StorePlugin)
        case sink(SinkPlugin)
        case vault(VaultPlugin)
    }

    let kind: Kind

    /// A provider, for one kind of evidence.
    public static func provider<P: AttestationProvider>(_ type: P.Type) -> Plugin {
        Plugin(kind: .provider(ProviderPlugin(type)))
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

extension PolicySection {
    /// Makes an instance of the plugin from its section, with its own metrics.
    ///
    /// - Throws: the errors of the section, at their places.
    func instance<Configuration: Decodable, Instance>(
        of plugin: PluginDescriptor, _ host: PluginHost,
        _ make: (Configuration, PluginHost) throws(ConfigurationError) -> Instance
    ) throws(Diagnostics) -> Instance {
        let configuration = try decode(Configuration.self)
        var host = host
        host.meter = host.meter.scoped(to: plugin.name)
        do throws(ConfigurationError) {
            return try make(configuration, host)
        } catch {
            throw diagnostics(for: error)
        }
    }
}
