internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// The methods of `projects/*/denyEntries/*`, for entries that cannot wait for the policies.
extension Administration {
    private static let collection = "/denyEntries"

    static let denyEntries: [KernelMethod] = [
        denyMethod(
            "listDenyEntries", MethodPath(.get, collection, query: ["pageSize", "pageToken"]),
            MessageShape(AdministrationShapes.page),
            reply: AdministrationShapes.list("denyEntries", of: AdministrationShapes.denyEntryReply)
                + [.optional("policyEntryCount", .integer(0...Int64(Int32.max)))]
        ) { call in
            let page = try ListPage(call.fields)
            let project = try call.project()
            let entries = try await StoredDenials.read(in: call.host.store).entries(of: project.identity)
                .sorted { $0.id < $1.id }
            var members = page.reply("denyEntries", entries.map { ($0.id.string, $0.message) }).members ?? []
            let count = call.policies.denials.count(at: call.now) { project.apps[$0] != nil }
            if count > 0 { members.append(JSONMember("policyEntryCount", .integer(Int64(count)))) }
            return .answered(.object(members))
        },
        denyMethod(
            "createDenyEntry", MethodPath(.post, collection, body: .field("denyEntry")),
            [.required("denyEntry", .message(AdministrationShapes.denyEntry))],
            reply: AdministrationShapes.denyEntryReply
        ) { call in
            let project = try call.project()
            let fields = try call.fields.message("denyEntry") ?? RequestFields([:])
            guard let match = try fields.object("match") else { throw InvalidRequest("the field 'match' is missing") }
            // What is much too large is not written to find out how much.
            guard match.fits(in: 2 * StoredDenials.matchLimit), match.encoded.count <= StoredDenials.matchLimit else {
                throw InvalidRequest("the field 'match' has at most \(StoredDenials.matchLimit) bytes")
            }
            let app = try fields.optionalString("app")
            if let app, project.apps[app] == nil {
                throw InvalidRequest("the field 'app' names an unknown app or OAuth client of this project")
            }
            let note = try fields.optionalString("note")
            guard (note?.utf8.count ?? 0) <= 200 else { throw InvalidRequest("the field 'note' has at most 200 bytes") }
            let until = try fields.timestamp("expireTime")
            if let until, until <= call.now { throw InvalidRequest("the field 'expireTime' is in the past") }
            let entry = StoredDenials.Entry(
                id: ExactText(UUID4.text(call.host.randomness)), project: ExactText(project.identity.number),
                app: app.map { ExactText($0) }, match: match, until: until, note: note.map { ExactText($0) },
                created: call.now, creator: ExactText(call.caller?.name ?? ""))
            try call.check(entry, of: project)
            try await StoredDenials.update(in: call.host.store, now: call.now) { denials in
                guard denials.entries(of: project.identity).count < StoredDenials.projectLimit else {
                    throw CallFailure(
                        .resourceExhausted,
                        "The deny list of the project is full: at most \(StoredDenials.projectLimit) entries; move lasting ones to the policies."
                    )
                }
                denials.entries.append(entry)
            }
            await call.report(.denyAdded, entry)
            return .answered(entry.message, facts: [Fact(.denyEntry, .text(entry.name))])
        },
        denyMethod("deleteDenyEntry", MethodPath(.delete, "\(collection)/{denyEntryId}"), reply: []) { call in
            let project = try call.project().identity
            let id = ExactText(try call.fields.string("denyEntryId"))
            let removed = try await StoredDenials.update(in: call.host.store, now: call.now) { denials in
                guard
                    let index = denials.entries.firstIndex(where: {
                        $0.id == id && $0.project == ExactText(project.number)
                    })
                else { throw CallFailure(.notFound, "The deny list of the project has no such entry.") }
                return denials.entries.remove(at: index)
            }
            await call.report(.denyRemoved, removed)
            return .answered([:], facts: [Fact(.denyEntry, .text(removed.name))])
        },
    ]

    private static func denyMethod(
        _ name: String, _ path: MethodPath, _ request: MessageShape = [], reply: MessageShape,
        _ answer: @escaping @Sendable (KernelCall) async throws -> CallOutcome
    ) -> KernelMethod {
        let request = MessageShape(request.fields, refusesUnknownFields: true)
        return KernelMethod(
            MethodDescriptor(name: name, kind: .call(.denyList), resources: [.project], path: path)
                .with(request: request, reply: reply),
            answer: answer)
    }
}

extension KernelCall {
    /// Checks what an entry refuses by the facts that the program's providers declare, and those of the project tell.
    fileprivate func check(_ entry: StoredDenials.Entry, of project: ProjectBinding) throws {
        try checkTexts(entry.match)
        let problems: Diagnostics?
        do throws(Diagnostics) {
            let sink = DiagnosticSink()
            let facts = policies.descriptors.mapValues(\.facts)
            let policy = try entry.policy()
            _ = DenyList([policy], facts: facts, isWhole: true, problems: sink)
            if sink.diagnostics == nil {
                let apps = project.apps.map { (id: $0.key, providers: Array($0.value.providers.keys)) }
                DenyScope(facts: facts, apps: apps).report(policy, to: sink, warnings: sink)
            }
            problems = sink.diagnostics
        } catch {
            problems = error
        }
        guard let first = problems?.all.first else { return }
        let path = first.path.isEmpty ? "match" : "match.\(first.path)"
        throw InvalidRequest(
            "the field '\(SafeText.of(path))' is wrong: \(SafeText.of(first.message, limit: 1024))"
                + (first.hint.map { "; \(SafeText.of($0, limit: 8192))" } ?? ""))
    }

    /// Demands a string of JSON where a fact is text: what the number 1.10 was meant to be, nobody knows.
    private func checkTexts(_ match: JSON) throws(InvalidRequest) {
        let facts = policies.descriptors.values.flatMap(\.facts)
        for member in match.members ?? [] {
            let type = facts.first { $0.text.isExactly(member.name) }?.type
            let isText = type?.isWrittenAsText ?? ["jti", RuleSet.provider].contains(exactly: member.name)
            guard isText, !member.value.hasOnlyStrings else { continue }
            let words = type.map { ", because `\(SafeText.of(member.name))` is \($0.words)" } ?? ""
            throw InvalidRequest(
                "the field 'match.\(SafeText.of(member.name))' is wrong: write the value as a string\(words)")
        }
    }

    /// Puts a change of the deny list on record, and lets it take effect here at once.
    fileprivate func report(_ kind: AuditEvent.Kind, _ entry: StoredDenials.Entry) async {
        await refreshDenials()
        var details = [JSONMember("entry", .string(entry.name)), JSONMember("match", entry.match)]
        if let app = entry.app { details.append(JSONMember("app", .string(app.string))) }
        if let until = entry.until { details.append(JSONMember("until", .string(until.textWithMilliseconds))) }
        if let note = entry.note { details.append(JSONMember("note", .string(SafeText.of(note.string)))) }
        record(
            AuditEvent(
                time: now, kind: kind, caller: caller?.name, revision: policies.revision, details: details))
    }
}

extension FactType {
    /// Whether JSON has values of the type as strings.
    fileprivate var isWrittenAsText: Bool {
        switch self {
        case .integer, .bool: false
        case .text, .words, .version, .digest, .instant, .duration: true
        }
    }
}

extension JSON {
    /// Whether all values of a demand on a fact are strings: itself, the elements of a list, or what it is compared with.
    fileprivate var hasOnlyStrings: Bool {
        if let elements = array { return elements.allSatisfy(\.hasOnlyStrings) }
        if let members {
            return members.allSatisfy { $0.name.isExactly("known") || $0.value.hasOnlyStrings }
        }
        return !string.isNil
    }
}
