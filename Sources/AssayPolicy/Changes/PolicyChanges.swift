public import AssayCore
internal import AssayYAML

/// The differences in meaning between two sets of policies.
///
/// Effective policies are compared: it makes no difference whether an app says something itself or by a profile, in which order keys
/// are, and whether a default is stated.
///
///     let changes = PolicyChanges(from: present, to: next)
///     logger.info("policies changed", metadata: ["changes": "\(changes.summary)"])
///
/// What apps share by their platform, such as a team, counts only for sets that know the plugins: see `Registry.effective(_:)` of the engine.
public struct PolicyChanges: Sendable {
    /// The changes in the order of ``PolicyChange/Subject``, each kind in the order of the names; at most 1000.
    public private(set) var all: [PolicyChange] = []
    /// How many further changes were found.
    public private(set) var omitted = 0
    /// How many things of each kind were added, removed or changed.
    private var counts: [PolicyChange.Subject: [PolicyChange.Kind: Int]] = [:]

    private static let limit = 1000

    /// Compares two sets.
    public init(from old: PolicySet, to new: PolicySet) {
        let (before, after) = (old.subjects, new.subjects)
        for subject in PolicyChange.Subject.allCases {
            let (left, right) = (before[subject] ?? [:], after[subject] ?? [:])
            for name in Set(left.keys).union(right.keys).sorted() {
                compare(left[name], right[name], subject, name.string)
            }
        }
    }

    /// Whether both sets mean the same.
    public var isEmpty: Bool { all.isEmpty }

    /// How many things of a kind were added, removed or changed.
    public func count(_ subject: PolicyChange.Subject, _ kind: PolicyChange.Kind) -> Int { counts[subject]?[kind] ?? 0 }

    /// All in short: `apps 1 added, 2 changed; callers 1 added`, or `no difference`.
    public var summary: String {
        let parts = PolicyChange.Subject.allCases.compactMap { subject -> String? in
            let kinds = PolicyChange.Kind.allCases.compactMap { kind in
                let count = count(subject, kind)
                return count == 0 ? nil : subject == .tokens ? kind.rawValue : "\(count) \(kind.rawValue)"
            }
            return kinds.isEmpty ? nil : "\(subject.plural) \(kinds.joined(separator: ", "))"
        }
        return parts.isEmpty ? "no difference" : parts.joined(separator: "; ")
    }

    /// One line for each change, and one that says how many are left out.
    public func lines(limit: Int = 100) -> [String] {
        let shown = all.prefix(max(0, limit)).map(\.description)
        let rest = all.count - shown.count + omitted
        return rest == 0 ? shown : shown + ["and \(rest) more"]
    }

    /// What running clients lose, a sentence each, 100 at most: projects, apps and OAuth clients that are gone, and providers of apps.
    ///
    /// A client that gets 400 or 404 asks for no token for a day, also when what it used is back: see *Use tokens*.
    public var losses: [String] {
        let found = all.filter { $0.kind == .removed }.compactMap { change -> String? in
            switch (change.subject, change.path.dropping(prefix: "providers.")) {
            case (.project, nil) where change.path.isEmpty, (.app, nil) where change.path.isEmpty,
                (.oauthClient, nil) where change.path.isEmpty:
                "the \(change.head) is gone: its clients get 404, and the App Check SDKs of iOS, Android and the web then ask for no token for a day"
            case (.app, let provider?), (.oauthClient, let provider?):
                provider.utf8.contains(UInt8(ascii: "."))
                    ? nil
                    : "the \(change.head) has no provider `\(provider)` any more: clients that use it get 400, and the App Check SDKs of iOS and Android then ask for no token for a day"
            default: nil
            }
        }
        return Array(found.prefix(100))
    }

    private mutating func compare(
        _ old: PolicySubject?, _ new: PolicySubject?, _ subject: PolicyChange.Subject, _ name: String
    ) {
        switch (old, new) {
        case (nil, nil): return
        case (let old?, nil):
            note(subject, .removed)
            add(PolicyChange(subject: subject, name: name, kind: .removed, path: "", old: old.whole, new: nil))
        case (nil, let new?):
            note(subject, .added)
            add(PolicyChange(subject: subject, name: name, kind: .added, path: "", old: nil, new: new.whole))
        case (let old?, let new?):
            var comparison = TreeComparison(subject: subject, name: name)
            comparison.compare(old.tree(beside: new), new.tree(beside: old), at: .root)
            if !comparison.changes.isEmpty { note(subject, .changed) }
            for change in comparison.changes { add(change) }
            omitted += comparison.omitted
        }
    }

    private mutating func note(_ subject: PolicyChange.Subject, _ kind: PolicyChange.Kind) {
        counts[subject, default: [:]][kind, default: 0] += 1
    }

    private mutating func add(_ change: PolicyChange) {
        if all.count < Self.limit { all.append(change) } else { omitted += 1 }
    }
}

extension PolicyChange.Subject {
    /// Several of the kind, in words.
    fileprivate var plural: String {
        switch self {
        case .tokens: "tokens"
        case .caller: "callers"
        case .project: "projects"
        case .service: "services"
        case .consumer: "consumers"
        case .app: "apps"
        case .oauthClient: "OAuth clients"
        case .section: "sections"
        }
    }
}

extension PolicyChanges {
    /// The counts for programs: an object for each kind of thing that differs, and `omitted`.
    public var summaryJSON: JSON {
        var members = PolicyChange.Subject.allCases.compactMap { subject -> JSONMember? in
            guard let found = counts[subject], !found.isEmpty else { return nil }
            let kinds = PolicyChange.Kind.allCases.map { JSONMember($0.rawValue, .integer(Int64(found[$0] ?? 0))) }
            return JSONMember(subject.rawValue, .object(kinds))
        }
        members.append(JSONMember("omitted", .integer(Int64(omitted))))
        return .object(members)
    }
}
