package import AssayCore

/// The template of an HTTP rule in parts (google.api.HttpRule, "Path template syntax", without `**`).
package struct HTTPTemplate: Sendable, Hashable {
    package enum Segment: Sendable, Hashable {
        case literal([UInt8])
        /// Any segment that is not empty.
        case any
    }

    /// Segments whose text is a named variable.
    package struct Variable: Sendable, Hashable {
        @Exact package private(set) var name: String
        package let range: Range<Int>
    }

    package let segments: [Segment]
    /// The custom verb after the last colon.
    package let verb: [UInt8]?
    package let variables: [Variable]

    /// How many of the segments are wildcards: the template with fewer of them wins.
    package var wildcards: Int { segments.count { $0 == .any } }

    /// Parses a template; nil for any other text.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }

        var flat = ""
        var variables: [Variable] = []
        var rest = text[...]
        while let open = rest.firstIndex(ofASCII: "{") {
            flat += rest[..<open]
            guard let close = rest[open...].firstIndex(ofASCII: "}"), flat.ends(withExactly: "/") else { return nil }
            let inner = rest[open..<close].dropFirst().split(onASCII: "=", maxSplits: 1)
            rest = rest[close...].dropFirst()
            guard let name = inner.first, Self.isLiteral(name),
                rest.isEmpty || rest.starts(withExactly: "/") || rest.starts(withExactly: ":"),
                !variables.contains(where: { $0.name.isExactly(name) })
            else { return nil }
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
                guard Self.isLiteral(word) else { return nil }
                verb = Array(word.utf8)
                parts.append(last[..<colon])
            } else {
                parts.append(last)
            }
        }
        guard parts.allSatisfy({ $0.isExactly("*") || Self.isLiteral($0) }) else { return nil }
        self.segments = parts.map { $0.isExactly("*") ? .any : .literal(Array($0.utf8)) }
        self.verb = verb
        self.variables = variables
    }

    /// Whether both match the same paths.
    package func isSame(as other: HTTPTemplate) -> Bool {
        verb == other.verb && segments == other.segments
    }

    /// Whether a path exists that both match, and neither has fewer wildcards: which one is found would be a matter of
    /// their order.
    package func competes(with other: HTTPTemplate) -> Bool {
        verb == other.verb && segments.count == other.segments.count && wildcards == other.wildcards
            && zip(segments, other.segments).allSatisfy { $0 == $1 || $0 == .any || $1 == .any }
    }

    /// The unreserved characters (RFC 3986, section 2.3), which need no encoding in a path.
    private static func isLiteral(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
    }
}
