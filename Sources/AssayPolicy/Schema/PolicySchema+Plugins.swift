internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// The sections of plugins with the keys that the kernel reads in them, as JSON Schema.
extension PolicySchema {
    var providerSections: [JSONMember] {
        ShapeSchema.object(providers.map { reference($0.name, to: Self.definition($0), $0.summary) })
    }

    /// What the apps of a platform share.
    func shared(_ section: SharedSection) -> [JSONMember] {
        [
            JSONMember("description", .string(section.summary)), JSONMember("type", ["object", "null"]),
            JSONMember("additionalProperties", reference("shared_providers")),
        ]
    }

    /// The plugin's own keys and the kernel's.
    func section(_ provider: Provider) -> [JSONMember] {
        let own = section(ProviderSection.self, ["shadow": reference(Self.shadowDefinition(provider))])
        let kernelKeys = own.first { $0.name.isExactly("properties") }?.value.members ?? []
        return ShapeSchema.members(of: provider.section).relaxed.withProperties { kernelKeys + $0 }
    }

    /// Settings of a provider that are in shadow: none is required, because the others are those in force.
    func shadowSection(_ provider: Provider) -> [JSONMember] {
        ShapeSchema.members(of: provider.section).withoutDemands
    }

    var consumerSections: [JSONMember] {
        ShapeSchema.object(consumers.map { reference($0.name, to: Self.consumerDefinition($0), $0.summary) })
    }

    /// The plugin's own keys and the kernel's.
    func consumerSection(_ consumer: Provider) -> [JSONMember] {
        ShapeSchema.members(of: consumer.section).withProperties { members in
            let texts: [ExactText: PolicyKey] = [
                ExactText(ConsumerKeys.tokens): "The demand on App Check tokens.",
                ExactText(ConsumerKeys.actors):
                    "The issuers of the JWTs that name the users on whose behalf tokens are presented.",
            ]
            let own = ConsumerKeys.all.compactMap { key in
                consumerKeys[key].map { shape in
                    var members = ShapeSchema.members(of: shape, texts[key] ?? "")
                    if key.isExactly(ConsumerKeys.actors) {
                        members = members.map { $0.name.isExactly("items") ? JSONMember("items", issuerOrName) : $0 }
                    }
                    return JSONMember(
                        key, .object(consumer.allowsUnenforced ? members : members.without("enforcement")))
                }
            }
            return own + members
        }
    }
}

extension [JSONMember] {
    /// The schema of a mapping with other keys.
    func withProperties(_ change: ([JSONMember]) -> [JSONMember]) -> [JSONMember] {
        map { member in
            guard member.name.isExactly("properties") else { return member }
            return JSONMember(member.name, .object(change(member.value.members ?? [])))
        }
    }

    /// The same schema for a mapping of which a profile, or another section, may have a part: its keys are only said to be required,
    /// by words that no validator knows.
    var relaxed: [JSONMember] {
        map { member in
            switch member.value {
            case .array where member.name.isExactly("required"): JSONMember("requiredUnlessShared", member.value)
            case .array where member.name.isExactly("oneOf"): JSONMember("oneOfUnlessShared", member.value)
            case .object(let members): JSONMember(member.name, .object(members.relaxed))
            default: member
            }
        }
    }

    /// The schema with nothing required at any depth.
    fileprivate var withoutDemands: [JSONMember] {
        filter { !($0.value.array != nil && ["required", "oneOf", "allOf"].contains(exactly: $0.name)) }.map { member in
            guard case .object(let members) = member.value else { return member }
            return JSONMember(member.name, .object(members.withoutDemands))
        }
    }

    /// The schema of a mapping without one of its keys.
    fileprivate func without(_ key: String) -> [JSONMember] {
        withProperties { $0.filter { !$0.name.isExactly(key) } }
    }
}
