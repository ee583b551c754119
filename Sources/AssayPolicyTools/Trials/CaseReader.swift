internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Reads files with tests, and continues after errors to report all of them, up to a limit.
struct CaseReader {
    let tested: TestedPolicies
    /// By the names of their providers; nil when there was no need to make them.
    let simulators: [ExactText: any EvidenceSimulator]
    let sink: DiagnosticSink
    private(set) var cases: [PolicyCase] = []
    private var records = RecordedDecisions()

    /// The most tests of all files together.
    static let caseLimit = 10_000
    /// The most facts, properties and claims of one test, and names in a list.
    static let entryLimit = 64
    private static let nameLimit = 200

    init(
        _ tested: TestedPolicies, simulators: [any EvidenceSimulator], problems sink: DiagnosticSink
    ) {
        self.tested = tested
        self.sink = sink
        self.simulators = simulators.reduce(into: [:]) { $0[$1.provider] = $1 }
    }

    mutating func read(_ file: PolicyFile) {
        let root: YAMLValue
        do throws(Diagnostics) {
            root = YAMLValue(try YAMLDocument.parse(file.bytes, file: file.name), sink: sink)
        } catch {
            return sink.report(error)
        }
        guard let section = root.mapping() else { return }
        defer { section.finish() }
        if let version = section.optional("version"), let number = version.decode(Int.self), number != 1 {
            version.report("unknown version \(number) of the format of tests; this program reads version 1")
        }
        let defaults = section.optional("defaults").flatMap { CaseDefaults($0) }
        guard let elements = section.required("tests")?.elements() else { return }
        guard cases.count + elements.count <= Self.caseLimit else {
            section.report(
                "more than \(Self.caseLimit) tests; divide them among several folders of policies", key: "tests")
            return
        }
        var names: [ExactText: SourceLocation] = [:]
        for element in elements where !sink.isOverfull {
            guard let test = read(element, defaults, in: file.name) else { continue }
            if let first = names.updateValue(test.location, forKey: ExactText(test.name)) {
                element.report(
                    "the name `\(test.name)` is used twice",
                    related: [.init(location: first, message: "first used here")])
            }
            cases.append(test)
        }
    }

    private mutating func read(_ value: YAMLValue, _ defaults: CaseDefaults?, in file: String) -> PolicyCase? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let stated = StatedCase(section)
        let name = section.required("name").flatMap { testName($0) }
        let expected = section.required("expect")?.mapping()
        guard let form = stated.form(section) else { return nil }
        defer { expected?.finish() }
        let question = question(form, section, stated, defaults, in: file)
        let expectation = expected.flatMap {
            ExpectationReader(subject: question?.subject, form: form, registry: tested.registry).read($0)
        }
        guard let name, let question, let expectation else { return nil }
        return PolicyCase(name: name, location: value.location, question: question, expectation: expectation)
    }

    private func testName(_ value: YAMLValue) -> String? {
        guard let name = value.decode(String.self) else { return nil }
        guard !name.isEmpty, name.utf8.count <= Self.nameLimit, !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            value.report("expected a name of 1 to \(Self.nameLimit) bytes on one line")
            return nil
        }
        return name
    }

    private mutating func question(
        _ form: StatedCase.Form, _ section: YAMLMapping, _ stated: StatedCase, _ defaults: CaseDefaults?,
        in file: String
    ) -> PolicyCase.Question? {
        switch form {
        case .caller: return permission(section, stated)
        case .request: return request(section, stated)
        case .facts:
            guard let subject = subject(section, stated, defaults), let value = stated.facts else { return nil }
            return facts(value, of: subject).map { .facts(subject, $0) }
        case .device:
            guard let subject = subject(section, stated, defaults), let value = stated.device else { return nil }
            return DeviceOrderReader(subject: subject, simulator: simulators[subject.provider.name])
                .read(value, stated, time: defaults?.time).map { .device(subject, $0) }
        case .decision:
            guard let value = stated.decision, let found = records.find(value, beside: file) else { return nil }
            return decision(found, value)
        }
    }

    // MARK: - The app and the provider

    private func subject(_ section: YAMLMapping, _ stated: StatedCase, _ defaults: CaseDefaults?) -> Subject? {
        subject(section, app: stated.app ?? defaults?.app, provider: stated.provider ?? defaults?.provider)
    }

    private func subject(_ section: YAMLMapping, app stated: YAMLValue?, provider named: YAMLValue?) -> Subject? {
        guard let value = stated ?? section.required("app"), let name = value.decode(String.self) else { return nil }
        guard let app = tested.apps[name] else {
            value.report(
                "unknown app or OAuth client `\(name)`",
                hint: Spelling.hint(for: name, among: tested.policies.apps.map(\.identity.subject)))
            return nil
        }
        if named == nil, app.providers.count == 1, let only = app.providers.first { return tested.subject(app, only) }
        guard let value = named ?? section.required("provider"), let name = value.decode(String.self) else {
            return nil
        }
        guard let provider = app.providers.first(where: { $0.name.isExactly(name) }) else {
            value.report(
                "the app has no provider `\(name)`", hint: Spelling.hint(for: name, among: app.providers.map(\.name)))
            return nil
        }
        return tested.subject(app, provider)
    }

    // MARK: - Facts

    private func facts(_ value: YAMLValue, of subject: Subject) -> [Fact]? {
        guard let section = value.mapping() else { return nil }
        let known = subject.descriptor.facts
        return TypedValues.read(section, what: "fact") { entry in
            known.first { $0.text.isExactly(entry) }
        } unknown: { entry in
            sink.report(
                entry.diagnostic(
                    "the provider `\(subject.provider.name)` has no fact `\(entry.key)`", in: value.path,
                    hint: Spelling.hint(for: entry.key, among: known.map(\.text))))
        }.map { Fact($0.name, $0.value) }
    }

    // MARK: - Recorded decisions

    private func decision(_ decision: RecordedDecision, _ value: YAMLValue) -> PolicyCase.Question? {
        guard let app = tested.apps[decision.resource] else {
            value.report("the decision was about an app that the policies do not have")
            return nil
        }
        guard let name = decision.provider,
            let provider = app.providers.first(where: { $0.name.isExactly(name) }),
            let subject = tested.subject(app, provider)
        else {
            value.report("the decision was about evidence of a provider that the app does not have")
            return nil
        }
        let outcome = decision.outcome
        guard outcome.isExactly("issued") || outcome.isExactly("refused") else {
            value.report("the decision was not about evidence: its outcome is `\(SafeText.of(outcome, limit: 40))`")
            return nil
        }
        var reason: Reason?
        // What policies refused is judged by the present ones.
        let isOfPolicies =
            decision.reason.isExactly(KernelReasons.ruleRefused.code)
            || decision.reason.isExactly(KernelReasons.evidenceDenied.code)
                && decision.denyList.isExactly(DenialSource.policies.rawValue)
        if outcome.isExactly("refused"), !isOfPolicies {
            let known = KernelReasons.all + subject.descriptor.reasons
            guard let found = known.first(where: { decision.reason.isExactly($0.code) }) else {
                value.report("the decision has a reason that this program does not know")
                return nil
            }
            reason = found
        }
        let types = Dictionary(
            subject.descriptor.facts.map { (ExactText($0.text), $0.type) }, uniquingKeysWith: { first, _ in first })
        for (name, type) in decision.unreadableFacts(types) {
            value.report("the fact `\(name)` of the decision is not \(type.words)")
        }
        guard let facts = decision.facts(types) else {
            value.report("a fact of the decision is cut in its record")
            return nil
        }
        return .decision(
            subject, DecidedEvidence(facts: facts, reason: reason, limitedUse: decision.limitedUse))
    }

    // MARK: - Requests

    private func request(_ section: YAMLMapping, _ stated: StatedCase) -> PolicyCase.Question? {
        guard let value = stated.request, let line = value.decode(String.self) else { return nil }
        let backend = stated.backend.flatMap { $0.decode(String.self) }
        guard let request = ProxiedCall(line, to: backend) else {
            value.report("expected an HTTP method and a path, such as `POST /payments/1`")
            return nil
        }
        guard let value = stated.token else { return .request(RequestOrder(request: request, token: nil)) }
        guard let token = value.mapping() else { return nil }
        defer { token.finish() }
        let (limitedUse, age) = (token.optional("limited_use"), token.optional("age"))
        guard let subject = subject(token, app: token.optional("app"), provider: token.optional("provider")) else {
            return nil
        }
        let longest = TokenLifetime.range.upperBound
        let found = age.map { $0.decode(Duration.self) } ?? .zero
        guard let found, found >= .zero, found <= longest else {
            age?.report("expected an age of 0s to \(EffectiveValue.words(longest))")
            return nil
        }
        return .request(
            RequestOrder(
                request: request,
                token: RequestOrder.Token(
                    subject: subject, isLimitedUse: limitedUse?.decode(Bool.self) ?? false, age: found)))
    }

    // MARK: - Permissions

    private func permission(_ section: YAMLMapping, _ stated: StatedCase) -> PolicyCase.Question? {
        guard let value = stated.caller, let name = value.decode(String.self) else { return nil }
        let caller = tested.callers[name]
        if caller == nil {
            value.report(
                "unknown caller `\(name)`", hint: Spelling.hint(for: name, among: tested.callers.keys.map(\.string)))
        }
        guard let value = stated.method ?? section.required("method"), let text = value.decode(String.self) else {
            return nil
        }
        let guarded = tested.registry.methods.filter { $0.permission != nil }
        guard let method = tested.registry.methods.first(where: { $0.name.isExactly(text) }) else {
            value.report("unknown method `\(text)`", hint: Spelling.hint(for: text, among: guarded.map(\.name)))
            return nil
        }
        guard let permission = method.permission else {
            value.report("the method `\(text)` needs no permission")
            return nil
        }
        var project: ProjectIdentity?
        if !method.resources.isEmpty {
            guard let value = stated.resource ?? section.required("resource"), let name = value.decode(String.self)
            else { return nil }
            guard let kind = tested.kind(of: name) else {
                let known = tested.policies.apps.map(\.identity.resource) + tested.projects.keys.map(\.string)
                value.report("unknown resource `\(name)`", hint: Spelling.hint(for: name, among: known))
                return nil
            }
            guard method.resources.contains(kind) else {
                value.report("the method `\(text)` is not one of resources of this kind")
                return nil
            }
            project = tested.project(of: name)
        } else {
            guard let found = projectOfConsumer(method, caller, section, stated) else { return nil }
            project = found
        }
        return caller.map {
            .permission(PermissionQuestion(caller: $0, method: method, permission: permission, project: project))
        }
    }
}

extension CaseReader {
    /// The project of the consumer that answers a method without a resource: the one that the test names, or any where the caller
    /// may act in all or in none of them; nil, and reported, where the test must name one.
    private func projectOfConsumer(
        _ method: MethodDescriptor, _ caller: Caller?, _ section: YAMLMapping, _ stated: StatedCase
    ) -> ProjectIdentity? {
        let name = tested.registry.plugin(of: method.name)
        let all = tested.policies.projects.filter { project in
            project.consumers.contains { name.isExactly($0.name) }
        }.map(\.identity)
        guard !all.isEmpty else {
            section.report("no project has what answers the method `\(method.name)`", key: "method")
            return nil
        }
        if let value = stated.resource, let text = value.decode(String.self) {
            guard let found = tested.projects[text], all.contains(found) else {
                value.report(
                    "expected a project with the consumer `\(name ?? "")`",
                    hint: Spelling.hint(for: text, among: all.map { "projects/\($0.id)" }))
                return nil
            }
            return found
        }
        let able = all.filter { caller?.refusal(in: $0) == nil }
        guard able.isEmpty || able.count == all.count else {
            section.report(
                "the caller may act in some of the projects with this consumer: name one as `resource`", key: "caller")
            return nil
        }
        return all.first
    }
}

extension PolicyCase.Question {
    /// The app and the provider; nil for a test of permissions.
    var subject: Subject? {
        switch self {
        case .facts(let subject, _), .decision(let subject, _), .device(let subject, _): subject
        case .permission, .request: nil
        }
    }
}
