internal import AssayCore
internal import AssayPolicy
internal import AssayYAML

/// An effective policy as YAML that could be in a file; each value is followed by its place.
///
/// The layout is that of `policy fmt`. Defaults that plugins declare are comments: not all of them may be stated.
struct EffectiveYAML {
    private let document: EffectiveDocument
    private(set) var lines: [String] = []

    init(_ document: EffectiveDocument) {
        self.document = document
        for member in document.root.members ?? [] { write(member.value, after: Self.key(member.key), indent: 2) }
    }

    /// - Parameters:
    ///   - lead: what is on the line already.
    ///   - indent: the indentation of its keys or elements.
    ///   - isInList: whether the first key may follow on the same line.
    private mutating func write(_ value: EffectiveValue, after lead: String, indent: Int, isInList: Bool = false) {
        let space = String(repeating: " ", count: indent)
        switch value.content {
        case .mapping(let members) where !members.isEmpty:
            let stated = members.filter { !$0.value.isDeclared }
            if stated.isEmpty {
                lines.append("\(lead) {}\(Self.comment(origin(of: value)))")
            } else if !isInList {
                lines.append(lead)
            }
            for (index, member) in stated.enumerated() {
                let start = isInList && index == 0 ? "\(lead) " : space
                write(member.value, after: start + Self.key(member.key), indent: indent + 2)
            }
            // Below a mapping without keys of its own, they are at its own level.
            let inner = stated.isEmpty ? String(space.dropLast(2)) : space
            for member in members where member.value.isDeclared {
                lines.append("\(inner)# \(Self.key(member.key)) \(member.value.short)\(Self.comment("default"))")
            }
        case .list(let elements) where !elements.isEmpty:
            lines.append(lead)
            for element in elements { write(element, after: "\(space)-", indent: indent + 2, isInList: true) }
        default:
            let text = Self.text(value.content)
            lines.append("\(lead)\(text.isEmpty ? "" : " \(text)")\(Self.comment(origin(of: value)))")
        }
    }

    private func origin(of value: EffectiveValue) -> String {
        guard let location = value.location else { return "default" }
        return [Self.line("\(location)"), document.definition(of: value)].compactMap(\.self).joined(separator: " ")
    }

    /// A comment behind a value, in the layout of `policy fmt`.
    private static func comment(_ text: String) -> String { "  # \(text)" }

    private static func key(_ key: String) -> String {
        EffectiveValue.isWord(key) ? "\(key):" : "\(quoted(key)):"
    }

    /// A value without anything in it.
    private static func text(_ content: EffectiveValue.Content) -> String {
        switch content {
        case .mapping: "{}"
        case .list: "[]"
        case .concealed: "\"(not shown)\""
        // What was read without quotes can be read again without them, on one line.
        case .scalar(let text, isPlain: true) where text.unicodeScalars.allSatisfy(isPrintable): text
        case .scalar(let text, _): EffectiveValue.isWord(text) ? text : quoted(text)
        }
    }

    /// Text in double quotes (YAML 1.2, section 7.3.1).
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where isPrintable(scalar): result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16)
                result += "\\U\(String(repeating: "0", count: max(0, 8 - digits.utf8.count)))\(digits)"
            }
        }
        return result + "\""
    }

    /// Text on one line that ends no comment and steers no terminal.
    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isPrintable($0) ? $0 : "\u{FFFD}" }))
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}

extension EffectiveDocument {
    /// The values for programs.
    var json: JSON {
        .array(
            leaves.map { path, value in
                let location = value.location
                return [
                    "path": .string(path.description), "value": value.json,
                    "file": location.map { .string($0.file) } ?? .null,
                    "line": location.map { .integer(Int64($0.line)) } ?? .null,
                    "column": location.map { .integer(Int64($0.column)) } ?? .null,
                    "origin": .string(definition(of: value) ?? (location == nil ? "default" : "stated")),
                ]
            })
    }
}

extension EffectiveValue {
    /// A value without anything in it, as the JSON that it means as YAML.
    fileprivate var json: JSON {
        switch content {
        case .mapping: return [:]
        case .list: return []
        case .concealed: return .null
        case .scalar(let text, isPlain: false): return .string(text)
        case .scalar(let text, isPlain: true):
            if text.isEmpty || isStatedNull { return .null }
            if text.isExactly("true") || text.isExactly("false") { return .bool(text.isExactly("true")) }
            // Numbers with leading zeros are text.
            guard let number = Int64(text), "\(number)".isExactly(text) else { return .string(text) }
            return .integer(number)
        }
    }
}
