package import AssayCore
package import AssayKit
package import AssayYAML

/// A provider that is known as values instead of a type: one in another process.
///
/// Everything else is as with providers that are types: names, policies, limits, metrics and health.
package struct RemoteProvider: Sendable {
    /// What answers a method of an instance.
    package enum Action: Sendable {
        case challenge
        case exchange(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange)
        case call(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedCall)
    }

    package struct Instance: Sendable {
        /// By the methods' names.
        package let actions: [ExactText: Action]
        package let maintenance: Maintenance?
        package let warnings: [ConfigurationWarning]

        package init(
            actions: [ExactText: Action], maintenance: Maintenance? = nil, warnings: [ConfigurationWarning] = []
        ) {
            self.actions = actions
            self.maintenance = maintenance
            self.warnings = warnings
        }
    }

    package let descriptor: PluginDescriptor
    package let methods: [MethodDescriptor]
    /// The keys of its section in policies.
    package let section: DeclaredShape
    /// Makes an instance for an app from its section as JSON.
    package let make: @Sendable (JSON, AppIdentity, PluginHost) throws(ConfigurationError) -> Instance

    package init(
        descriptor: PluginDescriptor, methods: [MethodDescriptor], section: DeclaredShape,
        make: @escaping @Sendable (JSON, AppIdentity, PluginHost) throws(ConfigurationError) -> Instance
    ) {
        self.descriptor = descriptor
        self.methods = methods
        self.section = section
        self.make = make
    }
}

/// A consumer that is known as values instead of a type; the project of the token selects its instance.
package struct RemoteConsumer: Sendable {
    package struct Instance: Sendable {
        package let audiences: [String]
        /// By the methods' names.
        package let answers: [ExactText: @Sendable (RequestFields) throws -> PreparedRequest]
        package let maintenance: Maintenance?
        package let warnings: [ConfigurationWarning]

        package init(
            audiences: [String] = [], answers: [ExactText: @Sendable (RequestFields) throws -> PreparedRequest],
            maintenance: Maintenance? = nil, warnings: [ConfigurationWarning] = []
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
    /// Makes an instance for a project from its section as JSON.
    package let make: @Sendable (JSON, ConsumerScope, PluginHost) throws(ConfigurationError) -> Instance

    package init(
        descriptor: PluginDescriptor, methods: [MethodDescriptor], section: DeclaredShape,
        make: @escaping @Sendable (JSON, ConsumerScope, PluginHost) throws(ConfigurationError) -> Instance
    ) {
        self.descriptor = descriptor
        self.methods = methods
        self.section = section
        self.make = make
    }
}
