internal import AssayCore
internal import AssayKit

/// The template of an HTTP rule, which paths are matched with.
struct RouteTemplate: Sendable, Hashable {
    typealias Segment = HTTPTemplate.Segment

    let segments: [Segment]
    /// The custom verb after the last colon.
    let verb: [UInt8]?
    let variables: [HTTPTemplate.Variable]

    /// Whether its text is the only path that it matches.
    var isPath: Bool { verb == nil && variables.isEmpty && !segments.contains(.any) }

    /// The variable for the call's resource; all others are fields of the message.
    static let resource = "resource"

    /// - Throws: ``HTTPGatewayError`` when the text is not a template.
    init(_ text: String) throws(HTTPGatewayError) {
        guard let template = HTTPTemplate(text) else {
            throw HTTPGatewayError(.invalidRule, "the HTTP rule '\(text)' is not a template")
        }
        segments = template.segments
        verb = template.verb
        variables = template.variables
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

    private static func isDots(_ segment: [UInt8]) -> Bool {
        segment.count <= 2 && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
