internal import AssayCore

/// Makes a request message from the path, the query and the body.
struct MessageAssembly: Sendable {
    let route: HTTPRoute
    let fields: [RouteMatch.Field]
    let target: String

    /// - Parameter body: the body as JSON; nil when there is none.
    func message(body: JSON?) throws(HTTPFault) -> JSON {
        let rule = route.rule
        var members: [JSONMember] = []
        switch rule.body {
        case .none: break
        case .message: members = body?.members ?? []
        case .field(let name): members = [JSONMember(name, body ?? [:])]
        }
        for field in fields { members.append(JSONMember(field.name, .string(field.value))) }
        if !rule.query.isEmpty || route.refusesUnknownFields {
            let parameters: QueryParameters
            do throws(QueryParameters.Malformed) {
                parameters = try QueryParameters(target: target)
            } catch {
                throw .invalid("The query of the request is not valid.")
            }
            for name in rule.query {
                let values = parameters[name] + (name.snakeCased.isExactly(name) ? [] : parameters[name.snakeCased])
                switch values.count {
                case 0: continue
                case 1: members.append(JSONMember(name, .string(values[0])))
                // Every reader refuses a field that is there twice.
                case _ where route.isSingle(name): members += values.map { JSONMember(name, .string($0)) }
                default: members.append(JSONMember(name, .array(values.map { .string($0) })))
                }
            }
            if route.refusesUnknownFields { members += unknown(parameters) }
        }
        return .object(members)
    }

    /// The parameters that the rule does not have, without their values, which may be secrets; who answers the call refuses them.
    private func unknown(_ parameters: QueryParameters) -> [JSONMember] {
        let known = route.rule.query + route.rule.query.map(\.snakeCased)
        return parameters.all.map(\.name).filter { !known.contains(exactly: $0) && !StandardParameters.contains($0) }
            .map { JSONMember($0, .string("")) }
    }
}

/// The parameters that every method of Google's services takes in its query.
///
/// They change nothing here: replies are always JSON, and credentials are in a header.
enum StandardParameters {
    private static let names = [
        "access_token", "alt", "callback", "fields", "key", "oauth_token", "prettyPrint", "quotaUser", "uploadType",
        "upload_protocol",
    ]

    /// Whether a parameter is one of them, also of those whose names begin with a dollar sign, such as `$.xgafv`.
    static func contains(_ name: String) -> Bool {
        name.utf8.first == UInt8(ascii: "$") || names.contains(exactly: name)
    }
}

extension JSON {
    /// A request message with the fields that come from the request's head.
    ///
    /// If the message has a field with that name already, it then has two, which every reader refuses.
    func adding(_ binding: HTTPBinding, verb: String, _ headers: HeaderFields) -> JSON {
        guard !binding.requestHeaders.isEmpty || !binding.verbField.isNil else { return self }
        var members = members ?? []
        if let field = binding.verbField { members.append(JSONMember(field, .string(verb))) }
        for header in binding.requestHeaders {
            let values = headers[header.name]
            switch values.count {
            case 0: continue
            case 1: members.append(JSONMember(header.field, .string(values[0])))
            default: members.append(JSONMember(header.field, .array(values.map { .string($0) })))
            }
        }
        return .object(members)
    }
}

extension PresentedToken {
    /// The headers in which proxies send what their client asked for.
    private static let targets = ["x-forwarded-uri", "x-original-uri", "x-original-url"]

    /// The App Check token of a request.
    init?(headers: HeaderFields, target: String) {
        var targets = [target]
        for name in PresentedToken.targets { targets += headers[name] }
        self.init(headers["x-firebase-appcheck"], targets: targets)
    }
}
