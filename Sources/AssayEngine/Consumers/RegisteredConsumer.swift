internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// A consumer without its type: what it declares, and how an instance is made from a section of a policy.
final class RegisteredConsumer: Sendable {
    struct Door {
        /// How a request finds the instance.
        let selection: ConsumerSelection
        /// Whether it brings an App Check token.
        let takesToken: Bool
    }

    let descriptor: PluginDescriptor
    let typeName: String
    /// The methods that have doors of their own.
    let methods: [MethodDescriptor]
    /// How requests get in by those, by their names.
    let doors: [ExactText: Door]
    /// Whether there is anything that a policy can let through without a good token.
    let allowsUnenforced: Bool
    /// Whether instances of several projects may have an audience in common: the project of the token tells them apart.
    var sharesAudiences: Bool {
        doors.values.allSatisfy { door in
            switch door.selection {
            case .audience, .section: false
            case .tokenProject, .resource: true
            }
        }
    }
    /// What a section of a policy becomes.
    let configuration: any (Decodable & Sendable).Type
    /// What the section of a policy looks like.
    let section: @Sendable () -> ValueShape
    /// Says what is wrong in a section, as far as that can be known without an instance.
    let check: @Sendable (PolicySection) throws(Diagnostics) -> Void
    /// Makes an instance, and binds the methods to it.
    let instantiate: @Sendable (PolicySection, ConsumerScope, PluginHost) throws(Diagnostics) -> BoundConsumer

    init<C: TokenConsumer>(_ type: C.Type) {
        descriptor = C.descriptor
        typeName = "\(type)"
        let declared = C.methods
        methods = declared.compactMap(\.descriptor)
        doors = declared.reduce(into: [:]) { doors, method in
            guard let descriptor = method.descriptor else { return }
            doors[descriptor.name] = Door(selection: method.selection, takesToken: descriptor.takesToken)
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
            var bound = BoundConsumer(audiences: consumer.audiences)
            for method in declared {
                switch method.action {
                case .exchange(let handler):
                    bound.exchange = { request, context in try await handler(consumer, request, context) }
                case .answer(let prepare):
                    guard let name = method.descriptor?.name else { continue }
                    let answer: BoundConsumer.Method = { (fields) throws(InvalidRequest) in
                        try prepare(consumer, fields)
                    }
                    bound.methods[name] = answer
                }
            }
            return bound
        }
    }
}

/// One instance of a consumer without its type.
struct BoundConsumer: Sendable {
    typealias Method = @Sendable (RequestFields) throws(InvalidRequest) -> PreparedRedemption

    let audiences: [String]
    var methods: [ExactText: Method] = [:]
    /// What token exchange gives; nil for nothing.
    var exchange: (@Sendable (TokenExchangeRequest, ConsumerContext) async throws -> ExchangeVerdict)?
}
