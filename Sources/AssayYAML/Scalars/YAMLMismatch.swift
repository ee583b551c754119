/// Why a value is not of the type that was asked for.
package struct YAMLMismatch: Error, Sendable {
    package let message: String
    package let hint: String?

    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// "expected a duration such as 1h, found a sequence".
    init(expected: String, found node: YAMLNode, hint: String? = nil) {
        self.init("expected \(expected), found \(node.summary)", hint: hint)
    }
}

extension YAMLNode {
    /// The value in a few words, for "found …".
    package var summary: String {
        switch content {
        case .sequence: "a sequence"
        case .mapping: "a mapping"
        case .scalar("", isPlain: true): "nothing"
        case .scalar(let text, isPlain: true): DisplayText.quoted(text)
        case .scalar(let text, isPlain: false): "the string \(DisplayText.quoted(text))"
        }
    }
}
