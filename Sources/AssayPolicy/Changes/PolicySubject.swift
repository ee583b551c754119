internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// One thing of a set of policies that is compared with the same thing of another set.
struct PolicySubject {
    /// What it says, with defaults.
    let tree: EffectiveValue
    /// The whole of it in a few words, and its place.
    let whole: PolicyChange.Value
    /// The keys that an OAuth client has from its app, and the app.
    var inherited: Set<ExactText> = []
    var app: String?

    init(_ tree: EffectiveValue, _ words: String, at location: SourceLocation?) {
        self.tree = tree
        whole = PolicyChange.Value(words, at: location)
    }

    /// What is compared with another one: without what both have from the same app, where it is compared already.
    func tree(beside other: PolicySubject) -> EffectiveValue {
        guard let app, let same = other.app, app.isExactly(same), let members = tree.members else { return tree }
        let common = inherited.intersection(other.inherited)
        return EffectiveValue(.mapping(members.filter { !common.contains(ExactText($0.key)) }), at: tree.location)
    }
}

extension PolicySet {
    /// Everything that is compared, by its name.
    var subjects: [PolicyChange.Subject: [ExactText: PolicySubject]] {
        var subjects: [PolicyChange.Subject: [ExactText: PolicySubject]] = [:]
        func add(_ kind: PolicyChange.Subject, _ name: String, _ subject: PolicySubject) {
            subjects[kind, default: [:]][ExactText(name)] = subject
        }
        add(.tokens, "", PolicySubject(effectiveTokens, "", at: nil))
        for caller in callers {
            let tree = EffectiveValue(caller.section.node)
            add(
                .caller, caller.name, PolicySubject(tree, tree["permissions"]?.short ?? "", at: caller.section.location)
            )
        }
        for project in projects {
            let name = "projects/\(project.identity.number)"
            add(
                .project, name,
                PolicySubject(
                    EffectiveValue(.mapping(project.effectiveSettings), at: project.location), project.identity.id,
                    at: project.location)
            )
            for service in project.effectiveServices {
                add(
                    .service, "\(name)/services/\(service.key)",
                    PolicySubject(service.value, service.value["enforcement"]?.short ?? "", at: service.value.location))
            }
            for (policy, consumer) in zip(project.consumers, project.effectiveConsumers) {
                add(
                    .consumer, "\(name)/consumers/\(consumer.key)",
                    PolicySubject(consumer.value, "", at: policy.section.location))
            }
        }
        for app in apps {
            add(app.identity.kind == .app ? .app : .oauthClient, app.identity.resource, app.subject)
        }
        for root in roots {
            let deny = RootSection.CodingKeys.deny.stringValue
            for element in root[deny]?.elements ?? [] {
                let tree = EffectiveValue(element)
                add(.section, "\(deny) \(tree.short)", PolicySubject(tree, tree.short, at: element.location))
            }
            let capture = RootSection.CodingKeys.capture.stringValue
            if let entry = root.entries?.first(where: { $0.key.isExactly(capture) }), !entry.value.isNull {
                let tree = EffectiveValue(entry.value, of: CaptureSection.self)
                add(.section, capture, PolicySubject(tree, EffectiveValue(entry.value).short, at: entry.keyLocation))
            }
        }
        return subjects
    }

    private var effectiveTokens: EffectiveValue {
        let section = roots.lazy.compactMap { $0[RootSection.CodingKeys.tokens.stringValue] }.first { !$0.isNull }
        let value = EffectiveValue(section, of: TokenPolicy.self)
        // The size has no effect for other algorithms.
        return tokens.algorithm == .rs256 ? value : value.without([TokenPolicy.CodingKeys.rsaBits.stringValue])
    }
}

extension AppPolicy {
    fileprivate var subject: PolicySubject {
        var members: [EffectiveValue.Member] = []
        if let app = identity.linkedApp { members.append(.init("app", .text(app, at: location(of: "app")))) }
        let sections = effectiveSections
        members += sections
        members.append(.init("providers", effectiveProviders))
        let (rateLimit, rules) = (AppSection.CodingKeys.rateLimit.stringValue, AppSection.CodingKeys.rules.stringValue)
        if let limit = effectiveRateLimit { members.append(.init(rateLimit, limit)) }
        members.append(.init(rules, effectiveRules))
        let words = providers.map { EffectiveValue.shown($0.name) }.joined(separator: ", ")
        var subject = PolicySubject(EffectiveValue(.mapping(members), at: location), words, at: location)
        subject.app = identity.linkedApp
        guard identity.kind == .oauthClient else { return subject }
        subject.inherited = Set(sections.map { ExactText($0.key) }).union([ExactText(rules)])
        if inheritsProviders { subject.inherited.insert("providers") }
        if inheritsRateLimit { subject.inherited.insert(ExactText(rateLimit)) }
        return subject
    }
}
