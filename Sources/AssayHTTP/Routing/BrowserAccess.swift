internal import AssayCore

/// The headers that tell browsers who may read a reply, or send a request (the Fetch standard, section 3.2).
struct BrowserAccess: Sendable {
    let origins: AllowedOrigins

    /// The headers of App Check's clients that browsers do not allow by default.
    private static let requestHeaders: Set<ExactText> = ["content-type", "x-goog-api-key", "x-goog-api-client"]
    private static let requestHeaderPrefix = "x-firebase-"
    /// The headers of a reply that scripts may read.
    private static let exposed = "etag, retry-after, www-authenticate, x-assay-decision"
    /// How long a browser may keep the answer, in seconds: no browser keeps it longer than two hours.
    private static let lifetime = "7200"

    /// The headers of a reply to a request, also if the method or verb does not exist: a script must be able to read
    /// its error.
    func headers(
        for outcome: RouteTable.Outcome, _ target: String, _ request: HeaderFields, table: RouteTable
    ) -> HeaderFields {
        let isReadable =
            switch outcome {
            case .found(let match): match.endpoint.isForAnyone
            case .wrongVerb(let allowed): allowed.contains { isOpen($0, target, table) }
            case .unknown, .malformed: table.hasOpenMethods
            }
        return isReadable ? headers(request) : []
    }

    private func isOpen(_ verb: HTTPRule.Verb, _ target: String, _ table: RouteTable) -> Bool {
        if case .found(let match) = table.find(verb.rawValue, target) { match.endpoint.isForAnyone } else { false }
    }

    private func headers(_ request: HeaderFields) -> HeaderFields {
        switch origins {
        case .any:
            return [
                ("access-control-allow-origin", "*"), ("access-control-expose-headers", BrowserAccess.exposed),
            ]
        case .only(let known):
            guard !known.isEmpty else { return [] }
            // Also for origins that are not allowed: a cache must not give them the reply to an allowed one.
            let vary: HeaderFields.Element = ("vary", "Origin")
            guard let origin = origin(request), known.contains(origin) else { return [vary] }
            return [
                ("access-control-allow-origin", origin), ("access-control-expose-headers", BrowserAccess.exposed),
                vary,
            ]
        }
    }

    /// The answer to a browser's question whether a script may send a request; nil when it is another request, or when
    /// the script may not.
    func preflight(_ target: String, _ request: HeaderFields, table: RouteTable) -> HTTPReply? {
        // A method that accepts any verb answers OPTIONS itself: permission for a browser is no answer to a proxy's
        // question.
        if case .found = table.find("OPTIONS", target) { return nil }
        let methods = request["access-control-request-method"]
        guard !origin(request).isNil, methods.count == 1, let method = methods.first,
            HTTPRule.Verb(named: method) != nil, case .found(let match) = table.find(method, target),
            match.endpoint.isForAnyone
        else { return nil }
        var headers = headers(request)
        guard headers.contains(where: { $0.name.isExactly("access-control-allow-origin") }) else { return nil }
        let wanted = request.members(of: "access-control-request-headers").map { $0.lowercasedASCII }
        var ofMethod: Set<ExactText> = []
        if case .method(let route) = match.endpoint {
            ofMethod = Set(exactly: route.binding.requestHeaders.map(\.name))
            // If a token is accepted, the user may be named as well.
            if route.takesToken { ofMethod.insert("authorization") }
        }
        let allowed = wanted.filter {
            BrowserAccess.requestHeaders.contains($0) || ofMethod.contains(ExactText($0))
                || $0.starts(withExactly: BrowserAccess.requestHeaderPrefix)
                    && $0.utf8.allSatisfy(BrowserAccess.isNamePart)
        }
        headers.removeAll { $0.name.isExactly("access-control-expose-headers") || $0.name.isExactly("vary") }
        headers.append(("access-control-allow-methods", method))
        if !allowed.isEmpty { headers.append(("access-control-allow-headers", allowed.joined(separator: ", "))) }
        headers.append(("access-control-max-age", BrowserAccess.lifetime))
        headers.append(("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"))
        return HTTPReply(empty: .noContent, headers: headers)
    }

    private func origin(_ request: HeaderFields) -> String? {
        let values = request["origin"]
        return values.count == 1 ? values[0] : nil
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        byte.isASCIILowercase || byte.isASCIIDigit || byte == UInt8(ascii: "-")
    }
}
