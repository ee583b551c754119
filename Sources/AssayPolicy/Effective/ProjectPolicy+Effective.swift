internal import AssayCore
internal import AssayKit
internal import AssayYAML

extension ProjectPolicy {
    /// The keys that are shown, and compared, in a way of their own.
    private static let othersKeys = [ProjectSection.CodingKeys.services, .consumers, .apps, .clients].map(\.stringValue)

    /// The default of `accept_development`, which depends on the stage.
    private var developmentDefault: [ExactText: String] {
        [ExactText(VerificationSection.CodingKeys.acceptsDevelopment.stringValue): "\(identity.stage == .development)"]
    }

    /// The project's own keys, with their defaults.
    package var effectiveSettings: [EffectiveValue.Member] {
        let key = ProjectSection.CodingKeys.verification.stringValue
        let verification = EffectiveValue(node[key], of: VerificationSection.self, defaults: developmentDefault)
        return EffectiveValue(node, of: ProjectSection.self, known: [ExactText(key): verification])
            .without(Self.othersKeys).members ?? []
    }

    /// The project's number and ID, and what it is for.
    package var effectiveIdentity: [EffectiveValue.Member] {
        let keys = [ProjectSection.CodingKeys.number, .id, .stage].map(\.stringValue)
        return effectiveSettings.filter { keys.contains(exactly: $0.key) }
    }

    /// The services with their levels, and the defaults of what they do not say.
    package var effectiveServices: [EffectiveValue.Member] {
        services.map { service in
            var defaults = developmentDefault
            let clients = ServiceSection.CodingKeys.acceptsOAuthClients.stringValue
            defaults[ExactText(clients)] = "\(service.acceptsOAuthClients)"
            let section = node[ProjectSection.CodingKeys.services.stringValue]?[service.id]
            var value = EffectiveValue(section, of: ServiceSection.self, defaults: defaults)
            value.location = service.location
            return .init(service.id, value)
        }
    }

    /// The consumers with their sections; what the project's stage decides is said in them.
    package var effectiveConsumers: [EffectiveValue.Member] {
        let key = VerificationSection.CodingKeys.acceptsDevelopment.stringValue
        return consumers.map { consumer in
            var section = EffectiveValue(consumer.section.node)
            if section.members == nil { section = EffectiveValue(.mapping([]), at: section.location) }
            let demand = section[ConsumerKeys.tokens] ?? EffectiveValue(.mapping([]), at: nil)
            if (demand[key]?.text).isNil {
                let isOn = identity.stage == .development
                let whole = demand.beginning(with: key, .text("\(isOn)", at: nil))
                section = section.beginning(with: ConsumerKeys.tokens, whole)
            }
            return .init(consumer.name, section)
        }
    }
}
