internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Reads policy files one after the other, and continues after errors to report all of them, up to a limit.
struct PolicyLoader {
    let sink: DiagnosticSink
    let warnings = DiagnosticSink()
    /// What a server for production refuses.
    let development = DiagnosticSink()
    /// Finds what a server for production refuses.
    var lint: SectionLint
    /// Whether all projects are known.
    var isWhole: Bool
    var tokens: (policy: TokenPolicy, location: SourceLocation)?
    var capture: (policy: CapturePolicy?, location: SourceLocation)?
    /// The first app that says what is captured of it.
    var capturedApp: YAMLValue?
    var callers: [CallerPolicy] = []
    var projects: [ProjectPolicy] = []
    var names = ClaimedNames()
    /// What is defined once and used in many places, in all files.
    let profiles = Profiles()
    let issuers = NamedIssuers()
    /// The root's keys that plugins may know.
    var sections: [PolicySection] = []
    /// The projects in the order of the files, and by both names.
    var open: [OpenProject] = []
    var openByName: [ExactText: OpenProject] = [:]
    /// The entries that add apps to a project of another place.
    var additions: [YAMLMapping] = []
    var revision = RevisionReader([])
    var denials: [DenyPolicy] = []
    /// How many entries the deny list has, with those that are wrong.
    var denialCount = 0
    var deniedApps: [YAMLValue] = []
    var nodes: [YAMLNode] = []

    init(sink: DiagnosticSink, isWhole: Bool) {
        self.sink = sink
        self.isWhole = isWhole
        lint = SectionLint(refusesDevelopment: true, problems: development, warnings: warnings)
    }

    /// What was read.
    var policies: PolicySet {
        PolicySet(
            tokens: tokens?.policy ?? TokenPolicy(), capture: capture?.policy, callers: callers, projects: projects,
            apps: open.flatMap { $0.apps + $0.clients }, sections: sections,
            problems: sink.diagnostics, warnings: warnings.diagnostics,
            development: development.diagnostics, knowsAllProjects: isWhole && !sink.isOverfull,
            revision: revision.revision, denials: denials, roots: nodes)
    }

    /// Reads files: first what they define for each other, then all the rest.
    mutating func read(_ files: [PolicyFile]) {
        var roots: [YAMLMapping] = []
        revision = RevisionReader(files)
        for file in files where !sink.isOverfull {
            do throws(Diagnostics) {
                let root = YAMLValue(try YAMLDocument.parse(file.bytes, file: file.name), sink: sink)
                if let mapping = root.mapping() {
                    roots.append(mapping)
                    nodes.append(root.node)
                } else {
                    isWhole = false
                }
            } catch {
                isWhole = false
                sink.report(error)
            }
        }
        profiles.isWhole = isWhole
        issuers.isWhole = isWhole
        for root in roots { readDefinitions(root) }
        for root in roots where !sink.isOverfull { readFile(root) }
        for addition in additions where !sink.isOverfull { readAddition(addition) }
        for project in open {
            for client in project.clientValues where !sink.isOverfull { readClient(client, of: project) }
        }
        guard isWhole, !sink.isOverfull else { return }
        if capture == nil, let capturedApp {
            capturedApp.warn(
                "has no effect without the section `\(RootSection.CodingKeys.capture.stringValue)` of the file",
                into: warnings)
        }
        profiles.reportUnused(to: warnings)
        issuers.reportUnused(to: warnings)
        checkDeniedApps()
    }

    /// Reports the apps of the deny list that no project has.
    private func checkDeniedApps() {
        let known = Set(open.flatMap { $0.apps + $0.clients }.map { ExactText($0.identity.subject) })
        guard open.allSatisfy(\.knowsAllApps) else { return }
        for value in deniedApps {
            guard let name = value.decode(String.self), !known.contains(ExactText(name)) else { continue }
            value.report(
                "unknown app or OAuth client `\(name)`", hint: Spelling.hint(for: name, among: known.map(\.string)))
        }
    }

    private func readDefinitions(_ file: YAMLMapping) {
        if let value = file.optional(Profiles.section) {
            if let section = value.mapping() { profiles.add(section) } else { profiles.isWhole = false }
        }
        if let value = file.optional(NamedIssuers.section) {
            if let section = value.mapping() { issuers.add(section) } else { issuers.isWhole = false }
        }
    }

    private mutating func readFile(_ file: YAMLMapping) {
        defer {
            // Only plugins can tell which of the other keys are sections of platforms, and which are unknown.
            sections += file.rest().map { PolicySection($0, in: file.path, kernelKeys: []) }
        }
        guard let root = file.decode(RootSection.self) else { return }
        if let version = root.version?.value, version != 1 {
            file.optional(RootSection.CodingKeys.version.stringValue)?.report(
                "unknown version \(version) of the policy format; this program reads version 1")
        }
        if let label = root.revision?.value, let value = file.optional(RootSection.CodingKeys.revision.stringValue) {
            revision.take(label, at: value)
        }
        if let section = root.tokens?.value(sink) { readTokens(section) }
        if let section = root.capture?.value(sink) { readCapture(section) }
        if let section = root.callers?.value(sink)?.mapping() { readCallers(section) }
        if let section = root.deny?.value(sink) {
            denials += DenyReader.read(section, count: &denialCount, apps: &deniedApps)
        }
        guard let section = root.projects?.value(sink) else { return }
        guard let elements = section.elements() else {
            isWhole = false
            return
        }
        for project in elements where !sink.isOverfull { readProject(project) }
    }

    private mutating func readTokens(_ value: YAMLValue) {
        reportSecond(value, after: tokens?.location, RootSection.CodingKeys.tokens)
        let policy = value.decode(TokenPolicy.self)
        if let policy, policy.algorithm != .rs256 {
            value.member(TokenPolicy.CodingKeys.rsaBits.stringValue)?.report(
                "has no effect with \(policy.algorithm.rawValue)")
        }
        tokens = (policy ?? TokenPolicy(), value.location)
    }

    private mutating func readCapture(_ value: YAMLValue) {
        reportSecond(value, after: capture?.location, RootSection.CodingKeys.capture)
        capture = (CaptureSection.read(value), value.location)
    }

    /// Reports a section that may be in one place only.
    private func reportSecond(_ value: YAMLValue, after first: SourceLocation?, _ key: RootSection.CodingKeys) {
        guard let first else { return }
        value.report(
            "the section `\(key.stringValue)` is in more than one place",
            related: [.init(location: first, message: "first here")])
    }
}
