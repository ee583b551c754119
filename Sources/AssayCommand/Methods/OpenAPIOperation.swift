internal import AssayCore
internal import AssayKit

/// One way to call one method, as OpenAPI has it.
struct OpenAPIOperation {
    let path: String
    let verb: String
    let tag: String
    private let method: MethodDescriptor
    private let rule: HTTPRule
    private let variables: [String]
    private let served: ServedNames?

    /// - Parameter verb: one of those of the rule, in lower case.
    init(method: MethodDescriptor, rule: HTTPRule, verb: String, tag: String, served: ServedNames?) {
        (path, variables) = OpenAPIOperation.path(of: rule.template)
        self.verb = verb
        self.tag = tag
        self.method = method
        self.rule = rule
        self.served = served
    }

    /// The HTTP methods of a rule, in lower case.
    static func verbs(of rule: HTTPRule) -> [String] {
        rule.verb == .any
            ? ["get", "put", "post", "delete", "options", "head", "patch", "trace"] : [rule.verb.rawValue.lowercased()]
    }

    var json: JSON {
        var members = [
            JSONMember("operationId", .string(identifier)), JSONMember("tags", [.string(tag)]),
            JSONMember("parameters", .array(variables.map(variable) + rule.query.map(queryParameter) + headers)),
        ]
        if let body { members.append(JSONMember("requestBody", body)) }
        members.append(JSONMember("responses", .object(responses)))
        members.append(JSONMember("security", method.permission == nil ? [] : [["bearer": []]]))
        if let permission = method.permission {
            members.append(JSONMember("x-assay-permission", .string(permission.name)))
        }
        return .object(members)
    }

    /// A method has one operation for each version of the API and each kind of resource.
    private var identifier: String {
        let kind = ResourceKind.allCases.first { rule.template.contains("{resource=\($0.pattern)}") }
        let isOne = kind == nil || method.resources.count == 1
        // A method with several paths has one more word for each but the first.
        let path = method.rules.filter { $0.version == rule.version && kind == nil }.firstIndex(of: rule) ?? 0
        return "\(rule.version.rawValue)_\(method.name)" + (isOne ? "" : "_\(kind.map { "\($0)" } ?? "")")
            + (path == 0 ? "" : "_\(path + 1)") + (rule.verb == .any ? "_\(verb)" : "")
    }

    // MARK: Parameters

    /// A template as a path of OpenAPI, whose variables are for one segment each.
    private static func path(of template: String) -> (path: String, variables: [String]) {
        var path = ""
        var variables: [String] = []
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            path += rest[..<open]
            let parts = rest[open..<close].dropFirst().split(separator: "=", maxSplits: 1)
            if parts.count == 2 {
                var collection: Substring = ""
                path += parts[1].split(separator: "/").map { segment in
                    guard segment == "*" else {
                        collection = segment
                        return String(segment)
                    }
                    // The variable of projects/* is the project.
                    variables.append(String(collection.dropLast()))
                    return "{\(collection.dropLast())}"
                }.joined(separator: "/")
            } else {
                variables.append(String(parts.first ?? ""))
                path += rest[open...close]
            }
            rest = rest[close...].dropFirst()
        }
        return (path + rest, variables)
    }

    private func variable(_ name: String) -> JSON {
        var schema = [JSONMember("type", "string")]
        if let values = served?.values(of: name) {
            schema.append(JSONMember("enum", .array(values.map { .string($0) })))
        } else {
            schema += [JSONMember("minLength", 1), JSONMember("maxLength", 256)]
            schema.append(JSONMember("pattern", #"^[A-Za-z0-9][A-Za-z0-9._:-]*$"#))
        }
        return ["name": .string(name), "in": "path", "required": true, "schema": .object(schema)]
    }

    private var headers: [JSON] {
        if method.takesToken {
            return [
                [
                    "name": "X-Firebase-AppCheck", "in": "header", "schema": ["type": "string", "maxLength": 8192],
                    "description": "The App Check token.",
                ]
            ]
        }
        guard method.kind == .keySet else { return [] }
        return [
            [
                "name": "If-None-Match", "in": "header", "schema": ["type": "string", "maxLength": 1024],
                "description": "The ETag of the reply that the client has.",
            ]
        ]
    }

    private func queryParameter(_ name: String) -> JSON {
        let field = method.request?.fields.first { $0.name == name } ?? .optional(name, .text)
        return [
            "name": .string(name), "in": "query", "required": .bool(field.isRequired),
            "schema": OpenAPISchema.of(field.kind),
        ]
    }

    // MARK: Messages

    private var body: JSON? {
        let schema: JSON
        var isRequired = false
        switch rule.body {
        case .none: return nil
        case .message:
            let shape = request
            isRequired = shape?.fields.contains(where: \.isRequired) ?? false
            schema = shape.map(OpenAPISchema.request) ?? ["type": "object"]
        case .field(let name):
            guard let field = method.request?.fields.first(where: { $0.name == name }) else { return nil }
            isRequired = field.isRequired
            schema = OpenAPISchema.of(field.kind)
        }
        let type = method.binding.body == .form ? "application/x-www-form-urlencoded" : "application/json"
        return ["required": .bool(isRequired), "content": .object([JSONMember(type, ["schema": schema])])]
    }

    /// The message in the body: what is not in the path or the query, and what the kernel reads of every exchange.
    private var request: MessageShape? {
        var fields = method.request?.fields.filter { !variables.contains($0.name) && !rule.query.contains($0.name) }
        if case .challenge = method.kind { return [] }
        if case .exchange = method.kind {
            fields?.append(.optional("limitedUse", .boolean))
            if method.takesTokenID { fields?.append(.optional("jti", .textOfLength(16...250))) }
        }
        if method.binding.body == .form {
            fields = fields?.map { MessageField(name: $0.name.snakeCased, kind: $0.kind, isRequired: $0.isRequired) }
        }
        return fields.map { MessageShape($0) }
    }

    private var reply: JSON {
        switch method.kind {
        case .keySet:
            return method.reply.map(OpenAPISchema.reply) ?? ["$ref": "#/components/schemas/JSONWebKeySet"]
        case .challenge: return OpenAPISchema.reply([.required("challenge", .bytes), .required("ttl", .duration)])
        case .exchange(.alone): return OpenAPISchema.reply(token)
        case .exchange(.enclosed):
            // Version v1beta has the token once more, under its first name.
            let former: MessageShape = [.required("attestationToken", .text), .required("ttl", .duration)]
            return OpenAPISchema.reply(
                (method.reply ?? MessageShape([], isOpen: true)) + [.required("appCheckToken", .message(token))]
                    + (rule.version == .v1beta ? [.required("attestationToken", .message(former))] : []))
        case .call, .notOffered, .unset:
            return method.reply.map(OpenAPISchema.reply) ?? ["type": "object"]
        }
    }

    private var token: MessageShape {
        let token: MessageShape = [.required("token", .text), .required("ttl", .duration)]
        return rule.version == .v1beta ? token + [.required("attestationToken", .text)] : token
    }

    // MARK: Answers

    /// What every description refers to: a status, under a name, and when it is answered.
    struct Refusal {
        let status: Int
        let name: String
        let words: String

        var response: JSON {
            var members = [
                JSONMember("description", .string(words)),
                JSONMember("content", ["application/json": ["schema": ["$ref": "#/components/schemas/Error"]]]),
            ]
            if let header = Refusal.headers[status] {
                members.append(
                    JSONMember("headers", .object([JSONMember(header, ["schema": ["type": "string"]])])))
            }
            return .object(members)
        }

        private static let headers = [401: "www-authenticate", 405: "allow", 429: "retry-after", 503: "retry-after"]
    }

    static let refusals = [
        Refusal(
            status: 400, name: "BadRequest",
            words:
                "The request does not have the method's form (INVALID_ARGUMENT), or does not match the policies or the "
                + "present state (FAILED_PRECONDITION)."),
        Refusal(status: 401, name: "Unauthenticated", words: "The credentials are missing or unknown."),
        Refusal(
            status: 403, name: "Forbidden",
            words:
                "Evidence or a token is refused, or the caller lacks the permission. The reason is only in the audit record."
        ),
        Refusal(status: 404, name: "NotFound", words: "The resource does not exist, or the path is unknown."),
        Refusal(status: 405, name: "MethodNotAllowed", words: "The path exists for other HTTP methods."),
        Refusal(status: 408, name: "RequestTimeout", words: "The request did not arrive in time."),
        Refusal(
            status: 409, name: "Conflict",
            words:
                "The resource differs from the one that the etag names (ABORTED), or exists already (ALREADY_EXISTS)."),
        Refusal(status: 413, name: "PayloadTooLarge", words: "The body is too large."),
        Refusal(status: 415, name: "UnsupportedMediaType", words: "The body has an unsupported coding."),
        Refusal(
            status: 422, name: "UnprocessableContent",
            words: "The content of the request is not as the method's specification demands (INVALID_ARGUMENT)."),
        Refusal(
            status: 429, name: "TooManyRequests",
            words:
                "A limit is reached: of requests, or of stored resources; or evidence is refused, and other evidence may pass."
        ),
        Refusal(status: 431, name: "HeaderFieldsTooLarge", words: "The request line and the headers are too large."),
        Refusal(status: 500, name: "InternalError", words: "A fault of the server."),
        Refusal(
            status: 503, name: "Unavailable", words: "No decision is possible now; the same request may be sent again."
        ),
    ]

    private var responses: [JSONMember] {
        let success: JSON = ["description": "The reply.", "content": ["application/json": ["schema": reply]]]
        let unchanged = [JSONMember("304", ["description": "The client has this reply already."])]
        let bare: JSON = ["description": "Yes: the headers have details."]
        let good =
            method.binding.replyHeaders == nil
            ? [JSONMember("200", success)]
            : [JSONMember("204", bare)] + (method.binding.statusField == nil ? [] : [JSONMember("2XX", bare)])
        return good + (method.kind == .keySet ? unchanged : []) + refusals
    }

    /// The refusals in the form of the method.
    private var refusals: [JSONMember] {
        let others = Set(method.binding.statuses.values)
        return OpenAPIOperation.refusals.filter { canAnswer($0.status) || others.contains($0.status) }.map { refusal in
            let name = "\(refusal.status)"
            switch method.binding.errors {
            case .oauth where ![404, 405, 408, 413, 431].contains(refusal.status):
                return JSONMember(
                    name,
                    [
                        "description": .string(refusal.words),
                        "content": ["application/json": ["schema": ["$ref": "#/components/schemas/OAuthError"]]],
                    ])
            case .bare where [401, 403, 503].contains(refusal.status):
                return JSONMember(name, ["description": .string(refusal.words)])
            case .google, .oauth, .bare:
                return JSONMember(name, ["$ref": .string("#/components/responses/\(refusal.name)")])
            }
        }
    }

    private func canAnswer(_ status: Int) -> Bool {
        let isExchange = if case .exchange = method.kind { true } else { false }
        return switch status {
        case 401: method.permission != nil || method.takesToken
        case 403: method.permission != nil || isExchange || method.takesToken
        case 409: method.permission != nil && rule.verb != .get
        case 413, 415: rule.verb != .get
        case 422: false
        default: true
        }
    }
}
