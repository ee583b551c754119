internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// The number of settings in policies by their subject: enough to notice that a part of them is missing.
///
/// A file that is truncated or missing can leave policies that are valid but incomplete.
package struct PolicyCounts: Sendable {
    /// The number of values, in the order of the policies.
    private let counts: [(name: String, count: Int)]
    /// The number of values that each caller has; one that is gone is missing among the callers already.
    private let callers: [(name: String, count: Int)]
    /// Whether it has an app or an OAuth client.
    package let servesApps: Bool

    /// Counts the apps, clients, callers and settings in policies.
    package init(_ policies: PolicySet) {
        let (apps, clients) = policies.counts
        var counts = [("apps", apps), ("oauth_clients", clients), ("callers", policies.callers.count)]
        var providers: [ExactText: Int] = [:]
        for provider in policies.apps.flatMap(\.providers) {
            providers[ExactText(provider.name), default: 0] += provider.section.valueCount
        }
        counts += providers.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }
        for project in policies.projects {
            let name = "projects/\(project.identity.id)"
            counts.append(("services of \(name)", project.services.count))
            counts.append(
                ("enforced services of \(name)", project.services.count { $0.enforcement == .enforced }))
            counts += project.consumers.map { ("\($0.name) of \(name)", $0.section.valueCount) }
        }
        let owners = policies.apps.filter { $0.identity.kind == .app }
        let rules = owners.flatMap(\.rules)
        counts += [
            ("rules", rules.count), ("conditions of rules", rules.reduce(0) { $0 + $1.conditions.count }),
            (
                AppSection.CodingKeys.rateLimit.stringValue,
                policies.apps.count { $0.rateLimit != nil && !$0.inheritsRateLimit }
            ),
            (
                RootSection.CodingKeys.capture.stringValue,
                (policies.capture == nil ? 0 : 1) + owners.count { ($0.capture ?? .none) != .none }
            ),
            (RootSection.CodingKeys.deny.stringValue, policies.denials.count),
        ]
        self.counts = counts
        callers = policies.callers.map { ("settings of the caller \($0.name)", $0.section.valueCount) }
        servesApps = apps + clients > 0
    }

    /// The counts that decreased: `apps 3 to 2`, `custom_backend of projects/example 41 to 12`; 16 at most.
    package func losses(since before: PolicyCounts) -> [String] {
        let present = Dictionary(counts.map { (ExactText($0.name), $0.count) }, uniquingKeysWith: +)
        let fewer = before.counts.compactMap { name, count -> String? in
            let now = present[ExactText(name)] ?? 0
            return now < count ? "\(name) \(count) to \(now)" : nil
        }
        let less = before.callers.compactMap { name, count -> String? in
            guard let now = callers.first(where: { $0.name.isExactly(name) })?.count, now < count else { return nil }
            return "\(name) \(count) to \(now)"
        }
        return Array((fewer + less).prefix(16))
    }
}
