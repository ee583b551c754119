public import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// A plugin as it is handed to a ``Registry``: its types are erased here, once.
public struct Plugin: Sendable {
    enum Kind: Sendable {
        case provider(RegisteredProvider)
        case consumer(RegisteredConsumer)
        case store(RegisteredStore)
    }

    let kind: Kind

    /// A kind of evidence.
    public static func provider<P: AttestationProvider>(_ type: P.Type) -> Plugin {
        Plugin(kind: .provider(RegisteredProvider(type)))
    }

    /// Something that tokens are good for.
    public static func consumer<C: TokenConsumer>(_ type: C.Type) -> Plugin {
        Plugin(kind: .consumer(RegisteredConsumer(type)))
    }

    /// A state store.
    public static func store<S: StateStorePlugin>(_ type: S.Type) -> Plugin {
        Plugin(
            kind: .store(
                RegisteredStore(
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

/// A provider without its type: what it declares, and how an instance is made from a section of a policy.
struct RegisteredProvider: Sendable {
    let descriptor: PluginDescriptor
    let typeName: String
    let methods: [MethodDescriptor]
    /// The name of the resource that shows its settings; nil when it has none.
    let config: String?
    /// What a section of a policy becomes.
    let configuration: any (Decodable & Sendable).Type
    /// What the section of a policy looks like.
    let section: @Sendable () -> ValueShape
    /// Says what is wrong in a section, as far as that can be known without an instance.
    let check: @Sendable (PolicySection) throws(Diagnostics) -> Void
    /// Makes an instance, and binds the methods to it.
    let instantiate: @Sendable (PolicySection, AppIdentity, PluginHost) throws(Diagnostics) -> BoundProvider

    /// The methods of that resource, which the kernel answers.
    var configMethods: [KernelMethod] {
        config.map { ConfigMethods(provider: descriptor.name, resource: $0).all } ?? []
    }

    init<P: AttestationProvider>(_ type: P.Type) {
        descriptor = P.descriptor
        typeName = "\(type)"
        let declared = P.methods
        let configs = declared.compactMap(\.config)
        methods = declared.filter { $0.config == nil }.map(\.descriptor)
        config = configs.first?.name
        configuration = P.Configuration.self
        section = { ValueShape(of: P.Configuration.self) }
        check = { (section) throws(Diagnostics) in _ = try section.decode(P.Configuration.self) }
        instantiate = { (section, app, host) throws(Diagnostics) in
            let provider = try section.instance(of: P.descriptor, host) {
                (configuration: P.Configuration, host) throws(ConfigurationError) in
                try P(configuration, app: app, host: host)
            }
            let methods = declared.compactMap { method -> BoundMethod? in
                switch method.action {
                case .config: nil
                case .challenge:
                    BoundMethod(descriptor: method.descriptor, action: .challenge)
                case .exchange(let prepare):
                    BoundMethod(
                        descriptor: method.descriptor,
                        action: .exchange { (fields) throws(InvalidRequest) in try prepare(provider, fields) })
                case .call(let prepare):
                    BoundMethod(
                        descriptor: method.descriptor,
                        action: .call { (fields) throws(InvalidRequest) in try prepare(provider, fields) })
                }
            }
            return BoundProvider(
                methods: methods, config: configs.first?.fields(provider) ?? [], maintenance: provider.maintenance,
                warnings: provider.warnings)
        }
    }
}

/// One instance of a provider without its type.
struct BoundProvider: Sendable {
    let methods: [BoundMethod]
    /// What the resource of its settings shows beside the kernel's fields.
    let config: [ReplyField]
    /// What it does between calls.
    let maintenance: Maintenance?
    /// What it finds questionable in its section.
    let warnings: [ConfigurationWarning]
}

/// A store without its type.
struct RegisteredStore: Sendable {
    let scheme: String
    let typeName: String
    let open: @Sendable (String, HostClock) async throws(StateStoreOpeningError) -> any StateStore
    let copy: @Sendable (String, String, [StateKey: [UInt8]]) async throws(StateStoreOpeningError) -> Void
    let examine: @Sendable (String) async throws(StateStoreOpeningError) -> StateStoreFindings
}

/// A method of one instance of a provider.
struct BoundMethod: Sendable {
    enum Action: Sendable {
        case challenge
        case exchange(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange)
        case call(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedCall)
    }

    let descriptor: MethodDescriptor
    let action: Action
}
