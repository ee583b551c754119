internal import AssayCore
internal import AssayKit
package import AssayYAML

/// One app or OAuth client with all that holds for it, in the form of a policy file.
package struct EffectiveDocument: Sendable {
    /// The file; its only project has the app alone.
    package let root: EffectiveValue
    /// What shared parts the values come from.
    private let definitions: SharedDefinitions

    /// - Parameters:
    ///   - project: the project of the app, if its settings are shown, too.
    ///   - denials: the entries of the deny list that can be about its evidence or its tokens.
    ///   - defaults: adds the defaults of a plugin to a section: the kind of the section's owner, its name and its value.
    package init(
        _ app: AppPolicy, of project: ProjectPolicy, in policies: PolicySet, denials: [DenyPolicy], showsProject: Bool,
        defaults: (Owner, String, EffectiveValue) -> EffectiveValue
    ) {
        definitions = SharedDefinitions(policies)
        var members = app.effectiveIdentity
        let isClient = app.identity.kind == .oauthClient
        if !isClient {
            members += app.effectiveSections.map { .init($0.key, defaults(.platform, $0.key, $0.value)) }
        }
        let providers = app.effectiveProviders
        let own = (providers.members ?? []).map {
            EffectiveValue.Member($0.key, defaults(.provider, $0.key, $0.value))
        }
        members.append(.init("providers", EffectiveValue(.mapping(own), at: providers.location)))
        members.append(
            .init(AppSection.CodingKeys.rateLimit.stringValue, app.effectiveRateLimit ?? .text("null", at: nil)))
        // An OAuth client cannot state those of its app.
        if !isClient, let rules = app.statedRules {
            members.append(.init(AppSection.CodingKeys.rules.stringValue, rules))
        }
        var settings = showsProject ? project.effectiveSettings : project.effectiveIdentity
        if showsProject {
            settings.append(.init("services", EffectiveValue(.mapping(project.effectiveServices), at: nil)))
            let consumers = project.effectiveConsumers.map {
                EffectiveValue.Member($0.key, defaults(.consumer, $0.key, $0.value))
            }
            settings.append(.init("consumers", EffectiveValue(.mapping(consumers), at: nil)))
        }
        let whole = EffectiveValue(.mapping(members), at: app.location)
        settings.append(.init(isClient ? "oauth_clients" : "apps", EffectiveValue(.list([whole]), at: nil)))
        let projects = EffectiveValue(.list([EffectiveValue(.mapping(settings), at: project.location)]), at: nil)
        var sections = [EffectiveValue.Member("projects", projects)]
        if !denials.isEmpty {
            sections.append(
                .init(RootSection.CodingKeys.deny.stringValue, EffectiveValue(.list(denials.map(\.value)), at: nil)))
        }
        root = EffectiveValue(.mapping(sections), at: nil)
    }

    /// Who reads a section.
    package enum Owner: Sendable {
        case platform
        case provider
        case consumer
    }

    /// The shared part that a value comes from, such as `profile ios`; nil for a value that is stated where it holds, and for a default.
    package func definition(of value: EffectiveValue) -> String? { value.location.flatMap { definitions.name(of: $0) } }

    /// The values without those that only hold others, with their paths, in order.
    package var leaves: [(path: YAMLPath, value: EffectiveValue)] {
        var leaves: [(path: YAMLPath, value: EffectiveValue)] = []
        func visit(_ value: EffectiveValue, _ path: YAMLPath) {
            if let members = value.members, !members.isEmpty {
                for member in members { visit(member.value, path.key(member.key)) }
            } else if let elements = value.elements, !elements.isEmpty {
                for (index, element) in elements.enumerated() { visit(element, path.index(index)) }
            } else {
                leaves.append((path, value))
            }
        }
        visit(root, .root)
        return leaves
    }
}

extension AppPolicy {
    /// The keys that make the app this app.
    fileprivate var effectiveIdentity: [EffectiveValue.Member] {
        [OAuthClientSection.CodingKeys.id, .name, .app].map(\.stringValue).compactMap { key in
            node[key].flatMap { $0.isNull ? nil : EffectiveValue.Member(key, EffectiveValue($0)) }
        }
    }

    /// The name of its profile; for an OAuth client, of its app's.
    package var profile: String? { (linkedNode ?? node)[Profiles.key].flatMap { EffectiveValue($0).text } }

    /// Whether a name is one of the app's: its ID, or its resource with either name of the project.
    package func isNamed(_ name: String) -> Bool {
        [identity.subject, identity.resource, alias].contains { $0?.isExactly(name) ?? false }
    }
}
