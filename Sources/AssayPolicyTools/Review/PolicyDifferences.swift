internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// What of two sets of policies differs, as far as it can decide about a recorded request.
struct PolicyDifferences: Sendable {
    /// The callers whose tokens or issuers differ: recorded credentials may not be theirs any more.
    let credentials: Set<ExactText>
    /// The projects, by number, that differ in themselves, or in an app, a service or a consumer.
    private var projects: Set<ExactText> = []
    /// Whether callers differ in anything.
    private(set) var callers = false
    /// Whether consumers differ in anything, or there are others.
    private(set) var consumers = false
    private var denials = false
    /// More differs than was counted.
    private let isCut: Bool
    private let isEmpty: Bool
    private let old: PolicyView
    private let new: PolicyView

    init(from old: PolicyView, to new: PolicyView) {
        (self.old, self.new) = (old, new)
        credentials = SettingsComparison.differentCredentials(old.policies, new.policies)
        let changes = PolicyChanges(from: old.policies, to: new.policies)
        isCut = changes.omitted > 0
        isEmpty = changes.isEmpty
        for change in changes.all {
            switch change.subject {
            // By which algorithm tokens are signed decides about none of them.
            case .tokens: break
            case .caller: callers = true
            case .section: denials = denials || change.name.starts(withExactly: "deny")
            case .app, .oauthClient:
                for app in [old.apps[change.name], new.apps[change.name]].compactMap(\.self) {
                    projects.insert(ExactText(app.identity.project.number))
                }
            case .project, .service, .consumer:
                consumers = consumers || change.subject != .service
                let parts = change.name.split(onASCII: "/")
                if parts.count >= 2 { projects.insert(ExactText(String(parts[1]))) }
            }
        }
    }

    /// Whether a difference can decide about a request.
    func concern(_ decision: RecordedDecision) -> Bool {
        guard !isEmpty else { return false }
        if isCut || denials { return true }
        if callers, old.registry.routes[decision.method]?.permission != nil { return true }
        return concernProject(of: decision)
    }

    /// Whether a difference in callers can decide about a request.
    func concernCaller(of decision: RecordedDecision) -> Bool { isCut || callers && !decision.caller.isNil }

    /// Whether a difference can decide about a token of the project that a request is about.
    func concernTokens(of decision: RecordedDecision) -> Bool {
        isCut || denials || concernProject(of: decision)
    }

    /// Whether the project that a request is about differs.
    func concernProject(of decision: RecordedDecision) -> Bool {
        let numbers = [old, new].compactMap { $0.project(of: decision)?.identity.number }
        // Of an unknown resource, any project may decide.
        return numbers.isEmpty || numbers.contains { projects.contains(ExactText($0)) }
    }
}

extension PolicyView {
    /// The project that a recorded request is about; nil for an unknown one.
    func project(of decision: RecordedDecision) -> ProjectBinding? {
        let name: String
        if let found = bound.find(decision.resource) {
            name = "projects/\(found.project.number)"
        } else {
            let parts = decision.resource.split(onASCII: "/")
            guard parts.count == 4, parts[0].isExactly("projects") else { return nil }
            name = "projects/\(parts[1])"
        }
        return bound.projects[name]
    }
}
