package import AssayCore
package import AssayKit
package import AssayYAML

/// A provider of another process; ``RemotePlugin``.
package typealias RemoteProvider = RemotePlugin<AppIdentity, RemoteAction>
/// A consumer of another process, whose instance the project of the token selects; ``RemotePlugin``.
package typealias RemoteConsumer = RemotePlugin<ConsumerScope, @Sendable (RequestFields) throws -> PreparedRequest>

/// What answers a method of a provider's instance.
package enum RemoteAction: Sendable {
    case challenge
    case exchange(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange)
    case call(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedCall)
}

/// A plugin that is known as values instead of a type: one in another process.
///
/// Everything else is as with plugins that are types. `Scope` is what an instance is made for, and `Answer` answers a method.
package struct RemotePlugin<Scope, Answer: Sendable>: Sendable {
    package struct Instance: Sendable {
        package let audiences: [String]
        /// By the methods' names.
        package let answers: [ExactText: Answer]
        package let maintenance: Maintenance?
        package let warnings: [ConfigurationWarning]

        package init(
            audiences: [String] = [], answers: [ExactText: Answer], maintenance: Maintenance? = nil,
            warnings: [ConfigurationWarning] = []
        ) {
            self.audiences = audiences
            self.answers = answers
            self.maintenance = maintenance
            self.warnings = warnings
        }
    }

    package let descriptor: PluginDescriptor
    package let methods: [MethodDescriptor]
    /// The keys of its section in policies.
    package let section: DeclaredShape
    /// Makes an instance from its section as JSON.
    package let make: @Sendable (JSON, Scope, PluginHost) throws(ConfigurationError) -> Instance

    package init(
        descriptor: PluginDescriptor, methods: [MethodDescriptor], section: DeclaredShape,
        make: @escaping @Sendable (JSON, Scope, PluginHost) throws(ConfigurationError) -> Instance
    ) {
        self.descriptor = descriptor
        self.methods = methods
        self.section = section
        self.make = make
    }
}
