/// Why a value is not of the type that was asked for.
package struct YAMLMismatch: Error, Sendable {
    package let message: String
    package let hint: String?
    /// The same without a word of the value.
    let reticent: String

    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
        reticent = message
    }

    /// "expected a duration such as 1h, found a sequence".
    init(expected: String, found node: YAMLNode, hint: String? = nil) {
        message = "expected \(expected), found \(node.summary)"
        self.hint = hint
        reticent = "expected \(expected), found \(node.isCollection || node.isNull ? node.summary : "a string")"
    }
}

extension YAMLNode {
    /// The value in a few words, for "found …".
    package var summary: String {
        switch content {
        case .sequence: "a sequence"
        case .mapping: "a mapping"
        case .scalar(let text, isPlain: true) where text.isEmpty: "nothing"
        case .scalar(let text, isPlain: true): DisplayText.quoted(text)
        case .scalar(let text, isPlain: false): "the string \(DisplayText.quoted(text))"
        }
    }
}
