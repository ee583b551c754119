/// The template of an HTTP rule, compiled (google.api.HttpRule, "Path template syntax", without `**`).
///
/// At most one variable: what it matches is the resource's name.
struct RouteTemplate: Sendable, Hashable {
    enum Segment: Sendable, Hashable {
        case literal([UInt8])
        /// Any one segment that is not empty.
        case any
    }

    let segments: [Segment]
    /// The custom verb behind the last colon.
    let verb: [UInt8]?
    /// The segments that the variable takes.
    let variable: Range<Int>?

    /// - Throws: ``HTTPServiceError`` when the text is no such template.
    init(_ text: String) throws(HTTPServiceError) {
        let malformed = HTTPServiceError(.invalidRule, "the HTTP rule '\(text)' is not a template")
        guard text.utf8.first == UInt8(ascii: "/") else { throw malformed }

        var flat = text
        var variable: Range<Int>?
        if let open = text.firstIndex(of: "{") {
            guard let close = text[open...].firstIndex(of: "}") else { throw malformed }
            let inner = text[open..<close].dropFirst().split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let before = text[..<open]
            let after = text[close...].dropFirst()
            guard let name = inner.first, RouteTemplate.isLiteral(name), before.last == "/",
                after.isEmpty || after.first == "/" || after.first == ":"
            else { throw malformed }
            let pattern = inner.count == 2 ? inner[1] : "*"
            let start = before.utf8.count { $0 == UInt8(ascii: "/") } - 1
            variable = start..<start + pattern.utf8.count { $0 == UInt8(ascii: "/") } + 1
            flat = String(before + pattern + after)
        }

        var parts = flat.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var verb: [UInt8]?
        if let last = parts.popLast() {
            if let colon = last.lastIndex(of: ":") {
                let word = last[colon...].dropFirst()
                guard RouteTemplate.isLiteral(word) else { throw malformed }
                verb = Array(word.utf8)
                parts.append(last[..<colon])
            } else {
                parts.append(last)
            }
        }
        guard parts.allSatisfy({ $0 == "*" || RouteTemplate.isLiteral($0) }) else { throw malformed }
        self.segments = parts.map { $0 == "*" ? .any : .literal(Array($0.utf8)) }
        self.verb = verb
        self.variable = variable
    }

    /// Whether the segments of a path, without its verb, are of this form.
    func matches(_ path: [[UInt8]]) -> Bool {
        guard path.count == segments.count else { return false }
        for (index, (segment, found)) in zip(segments, path).enumerated() {
            switch segment {
            case .literal(let bytes):
                guard found == bytes else { return false }
            case .any:
                // A slash that came encoded would look like two segments in a name of several.
                let isWhole = variable?.count == 1 && variable?.contains(index) == true
                guard !found.isEmpty, !RouteTemplate.isDots(found), isWhole || !found.contains(UInt8(ascii: "/")) else {
                    return false
                }
            }
        }
        return true
    }

    /// The letters of the unreserved characters (RFC 3986, section 2.3): what needs no encoding in a path.
    private static func isLiteral(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
    }

    private static func isDots(_ segment: [UInt8]) -> Bool {
        segment.count <= 2 && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
