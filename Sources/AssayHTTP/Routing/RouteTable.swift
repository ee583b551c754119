internal import AssayCore
internal import AssayKit

/// Finds the endpoint of a request line: by the custom verb and the number of segments, then by the few remaining
/// templates.
struct RouteTable: Sendable {
    enum Outcome: Sendable, Hashable {
        case found(RouteMatch)
        /// The path exists, but not for this HTTP method; it exists for these.
        case wrongVerb(allowed: [HTTPRule.Verb])
        case unknown
        case malformed
    }

    private struct Shape: Hashable {
        let verb: [UInt8]?
        let count: Int
    }

    /// The rules that match the same paths, by their HTTP methods; the names of their variables may differ.
    private struct Entry {
        let segments: [RouteTemplate.Segment]
        var rules: [HTTPRule.Verb: (template: RouteTemplate, endpoint: Endpoint)]

        var wildcards: Int { segments.count { $0 == .any } }
    }

    private var entries: [Shape: [Entry]] = [:]
    /// Templates without variables, found by their text.
    private var literals: [ExactText: [HTTPRule.Verb: Endpoint]] = [:]
    /// Whether any method demands no permission.
    private(set) var hasOpenMethods = false

    /// - Throws: ``HTTPGatewayError`` for a rule that is not a template, and for two equal rules.
    init(methods: [MethodDescriptor], pages: HTTPPages = .health) throws(HTTPGatewayError) {
        for page in pages.shown { try add(.get, page.path, page.endpoint) }
        for method in methods {
            for rule in method.rules {
                try add(rule.verb, rule.template, .method(HTTPRoute(method, rule)))
            }
        }
    }

    /// Adds one rule.
    ///
    /// If templates match the same path, those with fewer wildcards come first.
    mutating func add(_ verb: HTTPRule.Verb, _ text: String, _ endpoint: Endpoint) throws(HTTPGatewayError) {
        let template = try RouteTemplate(text)
        if endpoint.isForAnyone { hasOpenMethods = true }
        if template.isPath { literals[text, default: [:]][verb] = endpoint }
        let shape = Shape(verb: template.verb, count: template.segments.count)
        var list = entries[shape] ?? []
        if let index = list.firstIndex(where: { $0.segments == template.segments }) {
            guard list[index].rules.updateValue((template, endpoint), forKey: verb) == nil else {
                throw HTTPGatewayError(.conflictingRules, "two methods have the HTTP rule '\(verb.rawValue) \(text)'")
            }
        } else {
            list.append(Entry(segments: template.segments, rules: [verb: (template, endpoint)]))
            list.sort { $0.wildcards < $1.wildcards }
        }
        entries[shape] = list
    }

    /// - Parameters:
    ///   - method: the HTTP method; `HEAD` finds the same as `GET`.
    ///   - target: the request target as in the request line.
    func find(_ method: String, _ target: String) -> Outcome {
        // A dictionary of `String` would treat texts as equal that Unicode calls equivalent; paths are bytes.
        if let endpoints = literals[target], target.utf8.allSatisfy({ $0 < 0x80 }),
            let endpoint = RouteTable.choose(endpoints, method)
        {
            return .found(RouteMatch(endpoint: endpoint))
        }
        guard let path = try? RequestPath(target) else { return .malformed }
        guard var segments = path.segments, let last = segments.last else { return .unknown }
        let whole = segments
        if let colon = last.lastIndex(of: UInt8(ascii: ":")) {
            segments[segments.count - 1] = Array(last[..<colon])
            let outcome = find(method, segments, verb: Array(last[colon...].dropFirst()))
            if outcome != .unknown { return outcome }
        }
        let outcome = find(method, whole, verb: nil)
        // Terraform's provider for Google writes a slash behind the collection in which it creates a resource policy.
        guard outcome == .unknown, method.isExactly("POST"), whole.last?.isEmpty == true,
            case .found(let match) = find(method, whole.dropLast(), verb: nil),
            case .method(let route) = match.endpoint, route.audience == .administrators
        else { return outcome }
        return .found(match)
    }

    private func find(_ method: String, _ segments: [[UInt8]], verb: [UInt8]?) -> Outcome {
        let candidates = entries[Shape(verb: verb, count: segments.count)] ?? []
        var allowed: Set<HTTPRule.Verb> = []
        for entry in candidates {
            // Each template decides whether it accepts an encoded slash.
            if let (template, endpoint) = RouteTable.choose(entry.rules, method), template.matches(segments) {
                return .found(template.match(segments, endpoint))
            }
            for (verb, rule) in entry.rules where rule.template.matches(segments) { allowed.insert(verb) }
        }
        return allowed.isEmpty
            ? .unknown : .wrongVerb(allowed: allowed.sorted { $0.rawValue.precedesExactly($1.rawValue) })
    }
}

extension RouteTable {
    /// The value for an HTTP method, or else for any method.
    private static func choose<Value>(_ rules: [HTTPRule.Verb: Value], _ method: String) -> Value? {
        HTTPRule.Verb(named: method.isExactly("HEAD") ? "GET" : method).flatMap { rules[$0] } ?? rules[.any]
    }
}

extension HTTPRule.Verb {
    /// The verb of a request's method; nil for an unknown one.
    init?(named text: String) {
        guard let verb = HTTPRule.Verb(exactly: text), verb != .any else { return nil }
        self = verb
    }
}
