internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// The methods of `projects/*/decisions/*`: the records of decisions about a project.
extension Administration {
    static let decisions: [KernelMethod] = [
        archiveMethod("getDecision", MethodPath(.get, "/decisions/{decisionId}"), reply: DecisionShapes.decision) {
            call, archive in
            let project = try call.project().identity
            let id = try call.fields.string("decisionId")
            guard id.utf8.count <= 64 else { throw unknownDecision }
            guard let found = try await archive.decision(DecisionID(text: id), of: project.names) else {
                throw unknownDecision
            }
            return .answered(DecisionShapes.message(of: found.record, in: project))
        },
        archiveMethod(
            "listDecisions", MethodPath(.get, "/decisions", query: DecisionShapes.query.fields.map(\.name)),
            DecisionShapes.query, reply: AdministrationShapes.list("decisions", of: DecisionShapes.decision)
        ) { call, archive in
            let project = try call.project().identity
            let query = try DecisionShapes.query(call.fields, in: project)
            try DecisionShapes.check(query, call.recordNames)
            let page = try await archive.decisions(query)
            var members: [JSONMember] = []
            if !page.decisions.isEmpty {
                let messages = page.decisions.prefix(ListPage.largest)
                    .map { DecisionShapes.message(of: $0.record, in: project) }
                members.append(JSONMember("decisions", .array(messages)))
            }
            if let token = page.nextPageToken { members.append(JSONMember("nextPageToken", .string(token))) }
            return .answered(.object(members))
        },
    ]

    private static let unknownDecision = CallFailure(
        .notFound, "The records of the project have no such decision.")

    private static func archiveMethod(
        _ name: String, _ path: MethodPath, _ request: MessageShape = [], reply: MessageShape,
        _ answer: @escaping @Sendable (KernelCall, any DecisionArchive) async throws -> CallOutcome
    ) -> KernelMethod {
        let request = MessageShape(request.fields, refusesUnknownFields: true)
        return KernelMethod(
            MethodDescriptor(name: name, kind: .call(.readDecisions), resources: [.project], path: path)
                .with(request: request, reply: reply)
        ) { call in
            guard let archive = call.archive else {
                throw CallFailure(
                    .failedPrecondition, "This server keeps no records that can be looked up.",
                    detail: "the engine has no archive of decisions")
            }
            do {
                return try await answer(call, archive)
            } catch let error as DecisionArchiveError {
                switch error.kind {
                case .invalidQuery: throw InvalidRequest(error.message)
                case .unavailable:
                    throw CallFailure(
                        .unavailable, CallOutcome.unavailableMessage, detail: error.message, retryAfter: .seconds(5))
                }
            }
        }
    }
}

extension ProjectIdentity {
    /// The names of the project that resources may have.
    fileprivate var names: [ExactText] { [ExactText(number), ExactText(id)] }
}

/// The messages of decisions.
private enum DecisionShapes {
    static let query = MessageShape(
        [
            .optional("app", .textOfLength(1...512)), .optional("reason", .textOfLength(1...128)),
            .optional("since", .timestamp), .optional("until", .timestamp),
            .optional("keyId", .textOfLength(1...256)), .optional("caller", .textOfLength(1...256)),
            .optional("method", .textOfLength(1...128)), .optional("outcome", .choice(RecordNames.outcomes)),
            .optional("rule", .textOfLength(1...128)), .optional("service", .textOfLength(1...256)),
        ] + AdministrationShapes.page)

    static let decision: MessageShape = [
        .required("name", .text), .required("decisionId", .text), .required("time", .timestamp),
        .required("method", .text), .required("resource", .text), .required("outcome", .text),
        .optional("reason", .text), .optional("status", .text), .optional("detail", .text),
        .optional("provider", .text), .optional("peer", .text), .optional("caller", .text),
        .optional("rule", .text), .optional("wouldRefuse", .list(.text, atMost: 16)),
        .optional("unenforcedReason", .text), .optional("revision", .text), .optional("route", .text),
        .optional("tokenId", .text), .optional("tokenExpireTime", .timestamp), .optional("limitedUse", .boolean),
        .optional("tokenCategory", .text), .optional("service", .text), .optional("tokenApp", .text),
        .optional(
            "facts",
            .list(.message([.required("name", .text), .required("value", .text)]), atMost: DecisionRecord.factLimit)),
    ]

    /// The query of a request.
    static func query(_ fields: RequestFields, in project: ProjectIdentity) throws -> DecisionQuery {
        let wanted = try fields.integer("pageSize") ?? 0
        guard wanted >= 0 else { throw InvalidRequest("the field 'pageSize' must not be negative") }
        var query = DecisionQuery(limit: wanted == 0 ? ListPage.largest : Int(min(wanted, Int64(ListPage.largest))))
        query.projects = project.names
        query.app = try text("app", 512, fields)
        query.reason = try text("reason", 128, fields)
        query.since = try instant("since", fields)
        query.until = try instant("until", fields)
        query.keyID = try text("keyId", 256, fields)
        query.caller = try text("caller", 256, fields)
        query.method = try text("method", 128, fields)
        query.outcome = try text("outcome", 32, fields)
        query.rule = try text("rule", 128, fields)
        query.service = try text("service", 256, fields)
        query.pageToken = try text("pageToken", 256, fields)
        return query
    }

    /// Refuses values that nothing can match: unknown outcomes, and reasons and methods that are misspelled.
    ///
    /// A reason or a method that resembles no known one may be that of a plugin that is gone.
    static func check(_ query: DecisionQuery, _ names: RecordNames) throws(InvalidRequest) {
        func refuse(_ field: String, _ value: String, _ hint: String) -> InvalidRequest {
            InvalidRequest("the field '\(field)' has the unknown value '\(SafeText.of(value))'; \(hint)")
        }
        if let outcome = query.outcome, let hint = RecordNames.hint(forOutcome: outcome) {
            throw refuse("outcome", outcome, hint)
        }
        if let reason = query.reason, let guess = RecordNames.guess(reason, among: names.reasons) {
            throw refuse("reason", reason, guess)
        }
        if let method = query.method, let guess = RecordNames.guess(method, among: names.methods) {
            throw refuse("method", method, guess)
        }
    }

    private static func text(_ name: String, _ limit: Int, _ fields: RequestFields) throws -> String? {
        guard let text = try fields.optionalString(name) else { return nil }
        guard (1...limit).contains(text.utf8.count) else {
            throw InvalidRequest("the field '\(name)' must have 1 to \(limit) bytes")
        }
        return text
    }

    private static func instant(_ name: String, _ fields: RequestFields) throws -> Instant? {
        guard let text = try fields.optionalString(name) else { return nil }
        guard let instant = Instant(rfc3339: text) else {
            throw InvalidRequest("the field '\(name)' must be a time such as 2026-12-31T23:59:59Z")
        }
        return instant
    }

    /// A record of the audit file as a message.
    static func message(of record: JSON, in project: ProjectIdentity) -> JSON {
        let id = record["decision"]?.string ?? ""
        var members = [JSONMember("name", .string("projects/\(project.number)/decisions/\(id)"))]
        for (name, field) in [("decision", "decisionId"), ("time", "time")] + copied {
            switch record[name] {
            case let text?: members.append(JSONMember(field, text))
            case nil: if required.contains(exactly: field) { members.append(JSONMember(field, "")) }
            }
        }
        for (name, field) in [("category", "tokenCategory"), ("service", "service"), ("app", "tokenApp")] {
            if let text = record["token_use"]?[name] { members.append(JSONMember(field, text)) }
        }
        if let facts = record["facts"]?.members, !facts.isEmpty {
            members.append(
                JSONMember(
                    "facts",
                    .array(facts.prefix(64).map { ["name": .string($0.name), "value": .string(text(of: $0.value))] })))
        }
        return .object(members)
    }

    private static let required = ["decisionId", "time", "method", "resource", "outcome"]
    private static let copied = [
        ("method", "method"), ("resource", "resource"), ("outcome", "outcome"), ("reason", "reason"),
        ("status", "status"), ("detail", "detail"), ("provider", "provider"), ("peer", "peer"), ("caller", "caller"),
        ("rule", "rule"), ("would_refuse", "wouldRefuse"), ("unenforced_reason", "unenforcedReason"),
        ("revision", "revision"), ("route", "route"), ("jti", "tokenId"), ("expires", "tokenExpireTime"),
        ("limited_use", "limitedUse"),
    ]

    private static func text(of value: JSON) -> String {
        value.string ?? String(decoding: value.encoded, as: UTF8.self)
    }
}
