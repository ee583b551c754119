import AssayCore
import AssayYAML

/// Parses a text under the name `policy.yaml`.
func parse(_ text: String, limits: YAMLLimits = .default) throws(Diagnostics) -> YAMLNode {
    try YAMLDocument.parse(Array(text.utf8), file: "policy.yaml", limits: limits)
}

/// Parses and decodes.
func decode<T: Decodable>(_ type: T.Type, _ text: String) throws(Diagnostics) -> T {
    try YAMLDecoder().decode(type, from: parse(text))
}

/// What is wrong, one line each: `line:column path: message (hint)`; empty when nothing is.
func problems(_ body: () throws(Diagnostics) -> Void) -> [String] {
    do throws(Diagnostics) {
        try body()
        return []
    } catch {
        return error.all.map(\.brief)
    }
}

/// What is wrong with a text that is read by hand.
func problems(reading text: String, _ body: (YAMLMapping) -> Void) -> [String] {
    problems { () throws(Diagnostics) in
        let sink = DiagnosticSink()
        if let mapping = YAMLValue(try parse(text), sink: sink).mapping() { body(mapping) }
        try sink.throwIfAny()
    }
}

extension Diagnostic {
    var brief: String {
        let place = location.map { "\($0.line):\($0.column)" } ?? "-"
        return "\(place) \(path.isEmpty ? "" : "\(path): ")\(message)\(hint.map { " (\($0))" } ?? "")"
    }
}
