internal import AssayCore

/// The template of an HTTP rule, compiled (google.api.HttpRule, "Path template syntax", without `**`).
struct RouteTemplate: Sendable, Hashable {
    enum Segment: Sendable, Hashable {
        case literal([UInt8])
        /// Any segment that is not empty.
        case any
    }

    /// Segments whose text is a named variable.
    struct Variable: Sendable, Hashable {
        @Exact private(set) var name: String
        let range: Range<Int>
    }

    let segments: [Segment]
    /// The custom verb after the last colon.
    let verb: [UInt8]?
    let variables: [Variable]

    /// Whether its text is the only path that it matches.
    var isPath: Bool { verb == nil && variables.isEmpty && !segments.contains(.any) }

    /// The variable for the call's resource; all others are fields of the message.
    static let resource = "resource"

    /// - Throws: ``HTTPGatewayError`` when the text is not a template.
    init(_ text: String) throws(HTTPGatewayError) {
        let malformed = HTTPGatewayError(.invalidRule, "the HTTP rule '\(text)' is not a template")
        guard text.utf8.first == UInt8(ascii: "/") else { throw malformed }

        var flat = ""
        var variables: [Variable] = []
        var rest = text[...]
        while let open = rest.firstIndex(ofASCII: "{") {
            flat += rest[..<open]
            guard let close = rest[open...].firstIndex(ofASCII: "}"), flat.ends(withExactly: "/") else {
                throw malformed
            }
            let inner = rest[open..<close].dropFirst().split(onASCII: "=", maxSplits: 1)
            rest = rest[close...].dropFirst()
            guard let name = inner.first, RouteTemplate.isLiteral(name),
                rest.isEmpty || rest.starts(withExactly: "/") || rest.starts(withExactly: ":"),
                !variables.contains(where: { $0.name.isExactly(name) })
            else { throw malformed }
            let pattern = inner.count == 2 ? inner[1] : "*"
            let start = flat.utf8.count { $0 == UInt8(ascii: "/") } - 1
            let range = start..<start + pattern.utf8.count { $0 == UInt8(ascii: "/") } + 1
            variables.append(Variable(name: String(name), range: range))
            flat += pattern
        }
        flat += rest

        var parts = flat.dropFirst().split(onASCII: "/")
        var verb: [UInt8]?
        if let last = parts.popLast() {
            if let colon = last.utf8.lastIndex(of: UInt8(ascii: ":")) {
                let word = last[colon...].dropFirst()
                guard RouteTemplate.isLiteral(word) else { throw malformed }
                verb = Array(word.utf8)
                parts.append(last[..<colon])
            } else {
                parts.append(last)
            }
        }
        guard parts.allSatisfy({ $0.isExactly("*") || RouteTemplate.isLiteral($0) }) else { throw malformed }
        self.segments = parts.map { $0.isExactly("*") ? .any : .literal(Array($0.utf8)) }
        self.verb = verb
        self.variables = variables
    }

    /// Whether the segments of a path, without its verb, match this template.
    func matches(_ path: [[UInt8]]) -> Bool {
        guard path.count == segments.count else { return false }
        for (index, (segment, found)) in zip(segments, path).enumerated() {
            switch segment {
            case .literal(let bytes):
                guard found == bytes else { return false }
            case .any:
                // An encoded slash would look like two segments in a name of several.
                let isWhole = variables.contains { $0.range == index..<index + 1 }
                guard !found.isEmpty, !RouteTemplate.isDots(found), isWhole || !found.contains(UInt8(ascii: "/")) else {
                    return false
                }
            }
        }
        return true
    }

    /// The match of a path of this form.
    func match(_ path: [[UInt8]], _ endpoint: Endpoint) -> RouteMatch {
        var match = RouteMatch(endpoint: endpoint)
        for variable in variables {
            let text = String(decoding: Array(path[variable.range].joined(separator: "/".utf8)), as: UTF8.self)
            if variable.name.isExactly(RouteTemplate.resource) {
                match.resource = text
            } else {
                match.fields.append(RouteMatch.Field(name: variable.name, value: text))
            }
        }
        return match
    }

    /// The unreserved characters (RFC 3986, section 2.3), which need no encoding in a path.
    private static func isLiteral(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
    }

    private static func isDots(_ segment: [UInt8]) -> Bool {
        segment.count <= 2 && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
