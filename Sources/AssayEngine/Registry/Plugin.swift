public import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// A plugin as it is handed to a ``Registry``: its types are erased here, once.
public struct Plugin: Sendable {
    enum Kind: Sendable {
        case provider(RegisteredProvider)
        case store(RegisteredStore)
    }

    let kind: Kind

    /// A kind of evidence.
    public static func provider<P: AttestationProvider>(_ type: P.Type) -> Plugin {
        Plugin(kind: .provider(RegisteredProvider(type)))
    }

    /// A state store.
    public static func store<S: StateStorePlugin>(_ type: S.Type) -> Plugin {
        Plugin(
            kind: .store(
                RegisteredStore(scheme: S.scheme, typeName: "\(type)") {
                    (location, clock) async throws(StateStoreOpeningError) in
                    try await S.open(location, clock: clock)
                }))
    }
}

/// A provider without its type: what it declares, and how an instance is made from a section of a policy.
struct RegisteredProvider: Sendable {
    let descriptor: PluginDescriptor
    let typeName: String
    let methods: [MethodDescriptor]
    /// Makes an instance, and binds the methods to it.
    let instantiate: @Sendable (PolicySection, AppIdentity, Host) throws(Diagnostics) -> [BoundMethod]

    init<P: AttestationProvider>(_ type: P.Type) {
        descriptor = P.descriptor
        typeName = "\(type)"
        let declared = P.methods
        methods = declared.map(\.descriptor)
        instantiate = { (section, app, host) throws(Diagnostics) in
            let configuration = try section.decode(P.Configuration.self)
            let provider: P
            do throws(ConfigurationError) {
                var host = host
                host.meter = host.meter.scoped(to: P.descriptor.name)
                provider = try P(configuration, app: app, host: host)
            } catch {
                throw section.diagnostics(for: error)
            }
            return declared.map { method in
                switch method.action {
                case .challenge:
                    BoundMethod(descriptor: method.descriptor, action: .challenge)
                case .exchange(let prepare):
                    BoundMethod(
                        descriptor: method.descriptor,
                        action: .exchange { (fields) throws(InvalidRequest) in try prepare(provider, fields) })
                }
            }
        }
    }
}

/// A store without its type.
struct RegisteredStore: Sendable {
    let scheme: String
    let typeName: String
    let open: @Sendable (String, HostClock) async throws(StateStoreOpeningError) -> any StateStore
}

/// A method of one instance of a provider.
struct BoundMethod: Sendable {
    enum Action: Sendable {
        case challenge
        case exchange(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange)
    }

    let descriptor: MethodDescriptor
    let action: Action
}
