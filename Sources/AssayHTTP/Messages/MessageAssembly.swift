internal import AssayKit

/// Makes a request message of what a rule finds in a path, in a query and in a body.
struct MessageAssembly: Sendable {
    let rule: HTTPRule
    let fields: [RouteMatch.Field]
    let target: String

    /// - Parameter body: the body as JSON; nil when there is none.
    func message(body: JSON?) throws(HTTPFault) -> JSON {
        var members: [JSONMember] = []
        switch rule.body {
        case .none: break
        case .message: members = body?.members ?? []
        case .field(let name): members = [JSONMember(name, body ?? [:])]
        }
        for field in fields { members.append(JSONMember(field.name, .string(field.value))) }
        if !rule.query.isEmpty {
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
                default: members.append(JSONMember(name, .array(values.map { .string($0) })))
                }
            }
        }
        return .object(members)
    }
}
