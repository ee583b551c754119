internal import AssayCore

/// What browsers are told about who may read a reply, or send a request (the Fetch standard, section 3.2).
struct BrowserAccess: Sendable {
    let origins: AllowedOrigins

    /// What clients of App Check send beside what browsers always allow.
    private static let requestHeaders: Set<ExactText> = ["content-type", "x-goog-api-key", "x-goog-api-client"]
    private static let requestHeaderPrefix = "x-firebase-"
    /// What scripts may read of a reply's head beside its body.
    private static let exposed = "etag, retry-after, x-assay-decision"
    /// For how long a browser need not ask again, in seconds: the most that any browser keeps to is two hours.
    private static let lifetime = "7200"

    /// The headers of a reply to a request, also of one that says that there is no such method, or not with this verb: a
    /// script is to learn what its mistake was.
    func headers(
        for outcome: RouteTable.Outcome, _ target: String, _ request: HeaderFields, table: RouteTable
    ) -> HeaderFields {
        let isReadable =
            switch outcome {
            case .found(let match): match.endpoint.isForAnybody
            case .wrongVerb(let allowed): allowed.contains { isOpen($0, target, table) }
            case .unknown, .malformed: table.hasOpenMethods
            }
        return isReadable ? headers(request) : []
    }

    private func isOpen(_ verb: HTTPRule.Verb, _ target: String, _ table: RouteTable) -> Bool {
        if case .found(let match) = table.find(verb.rawValue, target) { match.endpoint.isForAnybody } else { false }
    }

    private func headers(_ request: HeaderFields) -> HeaderFields {
        switch origins {
        case .any:
            return [
                ("access-control-allow-origin", "*"), ("access-control-expose-headers", BrowserAccess.exposed),
            ]
        case .only(let known):
            guard !known.isEmpty else { return [] }
            // Also for those that are not allowed: a cache must not hand them the reply to one that is.
            let vary: HeaderFields.Element = ("vary", "Origin")
            guard let origin = origin(request), known.contains(origin) else { return [vary] }
            return [
                ("access-control-allow-origin", origin), ("access-control-expose-headers", BrowserAccess.exposed),
                vary,
            ]
        }
    }

    /// The answer to a browser that asks whether a script may send a request; nil when it is not such a question, or the
    /// script may not.
    func preflight(_ target: String, _ request: HeaderFields, table: RouteTable) -> HTTPReply? {
        // A method that takes any verb answers OPTIONS itself: a yes to a browser is none to a proxy that asks about one.
        if case .found = table.find("OPTIONS", target) { return nil }
        let methods = request["access-control-request-method"]
        guard !origin(request).isNil, methods.count == 1, let method = methods.first,
            HTTPRule.Verb(named: method) != nil, case .found(let match) = table.find(method, target),
            match.endpoint.isForAnybody
        else { return nil }
        var headers = headers(request)
        guard headers.contains(where: { $0.name.isExactly("access-control-allow-origin") }) else { return nil }
        let wanted = request.members(of: "access-control-request-headers").map { $0.lowercasedASCII }
        // Where a token is taken, the user may be named beside it.
        let takesToken = if case .method(let route) = match.endpoint { route.takesToken } else { false }
        let allowed = wanted.filter {
            BrowserAccess.requestHeaders.contains($0) || takesToken && $0.isExactly("authorization")
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
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-")
    }
}
