package import AssayCore

/// What a request line leads to, for tools that explain routes without a server.
package enum RequestLine {
    /// The result for one line.
    package enum Finding: Sendable {
        /// A method, the resource in the path (empty for none), the rule that was matched, and the other fields in the path.
        case method(String, resource: String, rule: String, fields: JSON = [:])
        /// A page of the server itself, such as its health.
        case page
        /// The path exists for other HTTP methods.
        case wrongVerb(allowed: [String])
        case unknown
        /// It is no HTTP method and path.
        case malformed
    }

    /// - Parameters:
    ///   - text: an HTTP method and a path, such as `POST /v1/projects/1/apps/1:1:ios:a:exchangeDebugToken`.
    ///   - methods: the methods of a program.
    /// - Throws: ``HTTPGatewayError`` for methods whose rules conflict.
    package static func find(_ text: String, in methods: [MethodDescriptor]) throws(HTTPGatewayError) -> Finding {
        let parts = text.split(onASCII: " ")
        guard parts.count == 2, parts[1].starts(withExactly: "/") else { return .malformed }
        switch try RouteTable(methods: methods).find(String(parts[0]), String(parts[1])) {
        case .found(let match):
            guard case .method(let route) = match.endpoint else { return .page }
            return .method(
                route.name, resource: match.resource, rule: route.text,
                fields: .object(match.fields.map { JSONMember($0.name, .string($0.value)) }))
        case .wrongVerb(let allowed): return .wrongVerb(allowed: allowed.map(\.rawValue))
        case .unknown: return .unknown
        case .malformed: return .malformed
        }
    }
}
