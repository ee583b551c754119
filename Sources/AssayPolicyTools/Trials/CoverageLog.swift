internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Counts what tests look at.
///
/// What several apps share, such as a rule of a profile, is one item: it has one place.
struct CoverageLog {
    private struct Key: Hashable {
        let kind: PolicyCoverage.Kind
        let location: SourceLocation
        let name: ExactText
    }

    private var items: [Key: PolicyCoverage.Item] = [:]

    /// Begins with everything that tests of the policies can look at.
    init(_ tested: TestedPolicies) {
        for app in tested.policies.apps {
            for provider in app.providers {
                insert(.provider, Self.name(provider, of: app), provider.section.location, needsHitsOnly: true)
            }
            guard !app.providers.isEmpty else { continue }
            for rule in app.rules {
                insert(.rule, rule.name, rule.location, needsHitsOnly: rule.matchesAll)
                for demand in rule.demands {
                    insert(.condition, Self.name(demand, of: rule), demand.location, needsHitsOnly: false)
                }
            }
        }
    }

    /// Counts a test about evidence.
    ///
    /// - Parameter facts: nil if rules were not asked.
    mutating func add(_ subject: Subject, _ facts: [Fact]?) {
        hit(.provider, Self.name(subject.provider, of: subject.app), subject.provider.section.location)
        guard let facts else { return }
        for look in subject.rules.looks(at: facts, provider: subject.provider.name) {
            count(.rule, look.rule.name, look.rule.location, look.matches)
            for (demand, holds) in look.demands {
                count(.condition, Self.name(demand, of: look.rule), demand.location, holds)
            }
        }
    }

    /// Counts a test that tried whether settings matter.
    mutating func add(
        _ subject: Subject, decisive settings: [(name: String, location: SourceLocation, isDecisive: Bool)]
    ) {
        for setting in settings {
            let name = "\(setting.name) of \(subject.provider.name)"
            insert(.setting, name, setting.location, needsHitsOnly: true)
            if setting.isDecisive { hit(.setting, name, setting.location) }
        }
    }

    var coverage: PolicyCoverage {
        let order = PolicyCoverage.Kind.allCases
        return PolicyCoverage(
            items: items.values.sorted { left, right in
                guard left.kind == right.kind else {
                    return (order.firstIndex(of: left.kind) ?? 0) < (order.firstIndex(of: right.kind) ?? 0)
                }
                guard left.location == right.location else { return left.location < right.location }
                return left.name.precedesExactly(right.name)
            })
    }

    private static func name(_ provider: ProviderPolicy, of app: AppPolicy) -> String {
        "\(provider.name) of \(app.identity.subject)"
    }

    private static func name(_ demand: RuleLook.Demand, of rule: RulePolicy) -> String {
        "\(rule.name): \(demand.fact)"
    }

    private mutating func insert(
        _ kind: PolicyCoverage.Kind, _ name: String, _ location: SourceLocation, needsHitsOnly: Bool
    ) {
        let key = Key(kind: kind, location: location, name: ExactText(name))
        guard items[key] == nil else { return }
        items[key] = PolicyCoverage.Item(kind: kind, name: name, location: location, needsHitsOnly: needsHitsOnly)
    }

    private mutating func hit(_ kind: PolicyCoverage.Kind, _ name: String, _ location: SourceLocation) {
        count(kind, name, location, true)
    }

    private mutating func count(
        _ kind: PolicyCoverage.Kind, _ name: String, _ location: SourceLocation, _ isHit: Bool
    ) {
        let key = Key(kind: kind, location: location, name: ExactText(name))
        if isHit { items[key]?.hits += 1 } else { items[key]?.misses += 1 }
    }
}
