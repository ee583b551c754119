package import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

/// A consumer with erased types: what it declares, and how an instance is made from a section of a policy.
package final class ConsumerPlugin: Sendable {
    package let descriptor: PluginDescriptor
    package let pluginGuard: PluginGuard
    let typeName: String
    /// The methods with endpoints of their own.
    package let methods: [MethodDescriptor]
    /// Whether it offers token exchange.
    package let exchangesTokens: Bool
    /// How requests of each method select the instance, by the methods' names.
    package let selections: [ExactText: ConsumerSelection]
    /// Whether it has a method that a policy can allow without a valid token.
    package let allowsUnenforced: Bool
    /// The type that a section of a policy is decoded to; nil for a plugin without one.
    package let configuration: (any (Decodable & Sendable).Type)?
    /// The shape of the section of a policy.
    package let section: @Sendable () -> ValueShape
    /// Reports the errors of a section that can be found without an instance.
    package let check: @Sendable (PolicySection) throws(Diagnostics) -> Void
    /// Makes an instance, and binds the methods to it; nil where the host withholds a secret that it needs.
    let instantiate: @Sendable (PolicySection, ConsumerScope, PluginHost) throws(Diagnostics) -> ConsumerInstance?

    /// Whether instances of several projects may share an audience: the project of the token distinguishes them.
    var sharesAudiences: Bool {
        selections.values.allSatisfy { selection in
            switch selection {
            case .audience, .section: false
            case .tokenProject, .resource: true
            }
        }
    }

    /// What a registry demands of it.
    var rules: DescriptorRules {
        DescriptorRules(kind: .consumer, descriptor: descriptor, typeName: typeName, methods: methods)
    }

    init<C: TokenConsumer>(_ type: C.Type) {
        descriptor = C.descriptor
        let pluginGuard = PluginGuard(C.descriptor)
        self.pluginGuard = pluginGuard
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
            let made = try section.instance(of: pluginGuard, host) {
                (configuration: C.Configuration, host) throws(ConfigurationError) in
                try C(configuration, scope: scope, host: host)
            }
            guard let consumer = made else { return nil }
            var instance = ConsumerInstance(
                audiences: consumer.audiences, maintenance: consumer.maintenance,
                warnings: section.diagnostics(for: consumer.warnings))
            instance.demands = consumer.demands
            instance.problem = { consumer.problem }
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

    /// A consumer that is known as values.
    package init(_ foreign: RemoteConsumer) {
        descriptor = foreign.descriptor
        let pluginGuard = PluginGuard(foreign.descriptor)
        self.pluginGuard = pluginGuard
        typeName = "another process"
        methods = foreign.methods
        exchangesTokens = false
        selections = Dictionary(uniqueKeysWithValues: foreign.methods.map { (ExactText($0.name), .tokenProject) })
        allowsUnenforced = false
        configuration = nil
        section = { .declared(foreign.section) }
        check = { (section) throws(Diagnostics) in _ = try section.json(foreign.section) }
        instantiate = { (section, scope, host) throws(Diagnostics) in
            let found = try section.instance(of: pluginGuard, host, foreign.section) {
                (section, host) throws(ConfigurationError) in try foreign.make(section, scope, host)
            }
            guard let made = found else { return nil }
            var instance = ConsumerInstance(
                audiences: made.audiences, maintenance: made.maintenance,
                warnings: section.diagnostics(for: made.warnings))
            for method in foreign.methods {
                guard let prepare = made.answers[ExactText(method.name)] else { continue }
                instance.methods[ExactText(method.name)] = ConsumerInstance.Method(
                    takesToken: method.takesToken, allowsUnenforced: false, prepare: prepare)
            }
            return instance
        }
    }
}

/// One instance of a consumer, with erased types.
package struct ConsumerInstance: Sendable {
    package struct Method: Sendable {
        /// Whether its requests carry an App Check token.
        package let takesToken: Bool
        /// Whether a policy can allow its requests without a valid token.
        package let allowsUnenforced: Bool
        package let prepare: @Sendable (RequestFields) throws -> PreparedRequest
    }

    package typealias Exchange = @Sendable (TokenExchangeRequest, ConsumerContext) async throws -> ExchangeVerdict

    package let audiences: [String]
    /// What parts of its section demand of tokens; none where each request has the demand of the section.
    package var demands: [PartDemand] = []
    let maintenance: Maintenance?
    /// What the instance says that is wrong at present.
    var problem: @Sendable () -> String? = { nil }
    /// The warnings of the instance about its section.
    let warnings: [Diagnostic]
    package var methods: [ExactText: Method] = [:]
    /// The answer to token exchange; nil when it offers none.
    var exchange: Exchange?
    /// Whether there is no instance, because a secret was not read: policies can be judged, and nothing answered.
    package private(set) var isWithheld = false

    static let withheld: ConsumerInstance = {
        var instance = ConsumerInstance(audiences: [], maintenance: nil, warnings: [])
        instance.isWithheld = true
        return instance
    }()
}
