internal import AssayCore
internal import AssayKit
internal import AssayYAML

extension ProjectPolicy {
    /// The keys of a project that are shown, and compared, in a way of their own.
    private static let readKeys = [
        "number", "id", StageReader.key, "issuer", "verification", "services", "consumers", "apps", "oauth_clients",
    ]

    /// The place of a value; nil where it is absent, so that the default holds.
    private func location(of keys: String...) -> SourceLocation? {
        var found: YAMLNode? = node
        for key in keys { found = found?[key] }
        return found.flatMap { $0.isNull ? nil : $0.location }
    }

    /// The project's number and ID.
    package var effectiveNames: [EffectiveValue.Member] {
        [
            .init("number", .text(identity.number, at: location(of: "number"))),
            .init("id", .text(identity.id, at: location(of: "id"))),
        ]
    }

    /// What the project is for.
    package var effectiveStage: EffectiveValue.Member {
        .init(StageReader.key, .text(identity.stage.rawValue, at: location(of: StageReader.key)))
    }

    /// What else is said about its tokens, and each key of a project that is known in another place.
    package var effectiveSettings: [EffectiveValue.Member] {
        let section = "verification"
        let others = node.entries?.filter { !Self.readKeys.contains(exactly: $0.key) && !$0.value.isNull } ?? []
        return [
            .init("issuer", .text(issuerPrefix, at: location(of: "issuer"))),
            .init(
                section,
                EffectiveValue(
                    .mapping([
                        .init(
                            DevelopmentSwitch.key,
                            .text("\(acceptsDevelopment)", at: location(of: section, DevelopmentSwitch.key))),
                        .init(
                            ConsumptionReader.key,
                            .text(consumption.rawValue, at: location(of: section, ConsumptionReader.key))),
                    ]), at: location(of: section))),
        ] + others.map { .init($0.key, EffectiveValue($0.value)) }
    }

    /// The services with their levels, and the defaults of what they do not say.
    package var effectiveServices: [EffectiveValue.Member] {
        services.map { service in
            func value(_ key: String, _ text: String) -> EffectiveValue.Member {
                .init(key, .text(text, at: location(of: "services", service.id, key)))
            }
            return .init(
                service.id,
                EffectiveValue(
                    .mapping([
                        value("enforcement", service.enforcement.rawValue),
                        value("replay_protection", service.replayProtection.rawValue),
                        value("editable", "\(service.isEditable)"),
                        value(DevelopmentSwitch.key, "\(service.acceptsDevelopment)"),
                        value("accept_oauth_clients", "\(service.acceptsOAuthClients)"),
                        value(ConsumptionReader.key, service.consumption.rawValue),
                    ]), at: service.location))
        }
    }

    /// The consumers with their sections; what the project's stage decides is said in them.
    package var effectiveConsumers: [EffectiveValue.Member] {
        consumers.map { consumer in
            var section = EffectiveValue(consumer.section.node)
            if section.members == nil { section = EffectiveValue(.mapping([]), at: section.location) }
            let demand = section[ConsumerKeys.tokens] ?? EffectiveValue(.mapping([]), at: nil)
            if (demand[DevelopmentSwitch.key]?.text).isNil {
                let isOn = identity.stage == .development
                let whole = demand.beginning(with: DevelopmentSwitch.key, .text("\(isOn)", at: nil))
                section = section.beginning(with: ConsumerKeys.tokens, whole)
            }
            return .init(consumer.name, section)
        }
    }
}
