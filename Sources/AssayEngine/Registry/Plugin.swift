internal import AssayCore
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
        Plugin(
            kind: .store(
                StorePlugin(
                    scheme: S.scheme, typeName: "\(type)",
                    open: { (location, clock) async throws(StateStoreOpeningError) in
                        try await S.open(location, clock: clock)
                    },
                    copy: { (location, path, entries) async throws(StateStoreOpeningError) in
                        try await S.copy(location, to: path, adding: entries)
                    },
                    examine: { (location) async throws(StateStoreOpeningError) in try await S.examine(location) })))
    }
}

/// A store with erased types.
struct StorePlugin: Sendable {
    let scheme: String
    let typeName: String
    let open: @Sendable (String, HostClock) async throws(StateStoreOpeningError) -> any StateStore
    let copy: @Sendable (String, String, [StateKey: [UInt8]]) async throws(StateStoreOpeningError) -> Void
    let examine: @Sendable (String) async throws(StateStoreOpeningError) -> StateStoreFindings
}

extension PolicySection {
    /// Makes an instance of the plugin from its section, with what the plugin has of the host.
    ///
    /// - Throws: the errors of the section, at their places.
    func instance<Configuration: Decodable, Instance>(
        of plugin: PluginGuard, _ host: PluginHost,
        _ make: (Configuration, PluginHost) throws(ConfigurationError) -> Instance
    ) throws(Diagnostics) -> Instance {
        let configuration = try decode(Configuration.self)
        do throws(ConfigurationError) {
            return try make(configuration, plugin.host(host))
        } catch {
            throw diagnostics(for: error)
        }
    }
}
