internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// A consumer without its type: what it declares, and how a section of a policy becomes an instance.
final class ConsumerPlugin: Sendable {
    let descriptor: PluginDescriptor
    let typeName: String
    /// The methods that have endpoints of their own.
    let methods: [MethodDescriptor]
    /// Whether it answers token exchange.
    let exchangesTokens: Bool
    /// How requests of each method find the instance, by the methods' names.
    let selections: [ExactText: ConsumerSelection]
    /// Whether it has a method whose requests a policy can let through without a valid token.
    let allowsUnenforced: Bool
    /// The type that a section of a policy is decoded to.
    let configuration: any (Decodable & Sendable).Type
    /// What the section of a policy looks like.
    let section: @Sendable () -> ValueShape
    /// Says what is wrong in a section, as far as that can be known without an instance.
    let check: @Sendable (PolicySection) throws(Diagnostics) -> Void
    /// Makes an instance, and binds the methods to it.
    let instantiate: @Sendable (PolicySection, ConsumerScope, PluginHost) throws(Diagnostics) -> ConsumerInstance

    /// Whether instances of several projects may have an audience in common: the project of the token tells them apart.
    var sharesAudiences: Bool {
        selections.values.allSatisfy { selection in
            switch selection {
            case .audience, .section: false
            case .tokenProject, .resource: true
            }
        }
    }

    init<C: TokenConsumer>(_ type: C.Type) {
        descriptor = C.descriptor
        typeName = "\(type)"
        let declared = C.methods
        methods = declared.compactMap(\.descriptor)
        exchangesTokens = declared.contains { if case .exchange = $0.action { true } else { false } }
        selections = declared.reduce(into: [:]) { selections, method in
            if let name = method.descriptor?.name { selections[name] = method.selection }
        }
        allowsUnenforced = declared.contains(where: \.allowsUnenforced)
        configuration = C.Configuration.self
        section = { ValueShape(of: C.Configuration.self) }
        check = { (section) throws(Diagnostics) in _ = try section.decode(C.Configuration.self) }
        instantiate = { (section, scope, host) throws(Diagnostics) in
            let consumer = try section.instance(of: C.descriptor, host) {
                (configuration: C.Configuration, host) throws(ConfigurationError) in
                try C(configuration, scope: scope, host: host)
            }
            var instance = ConsumerInstance(audiences: consumer.audiences)
            for method in declared {
                switch method.action {
                case .exchange(let handler):
                    instance.exchange = { request, context in try await handler(consumer, request, context) }
                case .answer(let prepare):
                    guard let descriptor = method.descriptor else { continue }
                    instance.methods[descriptor.name] = ConsumerInstance.Method(
                        takesToken: descriptor.takesToken, allowsUnenforced: method.allowsUnenforced,
                        prepare: { fields in try prepare(consumer, fields) })
                }
            }
            return instance
        }
    }
}

/// One instance of a consumer without its type.
struct ConsumerInstance: Sendable {
    struct Method: Sendable {
        /// Whether its requests show an App Check token.
        let takesToken: Bool
        /// Whether a policy can let its requests through without a valid token.
        let allowsUnenforced: Bool
        let prepare: @Sendable (RequestFields) throws -> PreparedRequest
    }

    typealias Exchange = @Sendable (TokenExchangeRequest, ConsumerContext) async throws -> ExchangeVerdict

    let audiences: [String]
    var methods: [ExactText: Method] = [:]
    /// What token exchange gives; nil for nothing.
    var exchange: Exchange?
}
