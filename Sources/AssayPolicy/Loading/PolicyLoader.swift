internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Reads policy files one after the other, and continues after errors to report all of them, up to a limit.
struct PolicyLoader {
    let sink: DiagnosticSink
    let warnings = DiagnosticSink()
    /// What a server for production refuses.
    let development = DiagnosticSink()
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
            capturedApp.warn("has no effect without the section `\(CaptureReader.key)` of the file", into: warnings)
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
        if let version = file.optional("version", as: Int.self), version != 1 {
            file.optional("version")?.report(
                "unknown version \(version) of the policy format; this program reads version 1")
        }
        revision.read(file)
        if let section = file.optional("tokens") { readTokens(section) }
        if let section = file.optional(CaptureReader.key) { readCapture(section) }
        if let section = file.optional("callers")?.mapping() { readCallers(section) }
        if let section = file.optional(DenyReader.key) {
            denials += DenyReader.read(section, count: &denialCount, apps: &deniedApps)
        }
        guard let section = file.optional("projects") else { return }
        guard let elements = section.elements() else {
            isWhole = false
            return
        }
        for project in elements where !sink.isOverfull { readProject(project) }
    }

    private mutating func readTokens(_ value: YAMLValue) {
        guard let section = value.mapping() else { return }
        defer { section.finish() }
        if let first = tokens {
            value.report(
                "the section `tokens` is in more than one place",
                related: [.init(location: first.location, message: "first here")])
        }
        var policy = TokenPolicy()
        if let value = section.optional("algorithm"), let name = value.decode(String.self) {
            if let algorithm = TokenPolicy.Algorithm(exactly: name) {
                policy.algorithm = algorithm
            } else {
                value.report("expected RS256 or ES256, found `\(name)`")
            }
        }
        if let value = section.optional("rsa_bits"), let bits = value.decode(Int.self) {
            if bits != 2048, bits != 3072 { value.report("expected 2048 or 3072, found \(bits)") }
            if policy.algorithm != .rs256 { value.report("has no effect with \(policy.algorithm.rawValue)") }
            policy.rsaBits = bits
        }
        tokens = (policy, value.location)
    }

    private mutating func readCapture(_ value: YAMLValue) {
        if let first = capture {
            value.report(
                "the section `\(CaptureReader.key)` is in more than one place",
                related: [.init(location: first.location, message: "first here")])
        }
        capture = (CaptureReader.read(value), value.location)
    }
}
