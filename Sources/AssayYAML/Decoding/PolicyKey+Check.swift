internal import AssayCore

extension PolicyKey {
    /// - Throws: what is wrong with a value that does not follow an enforced rule.
    func check(_ node: YAMLNode) throws(YAMLMismatch) {
        guard let enforcement else { return }
        guard case .scalar(let text, _) = node.content else {
            guard rule == .notEmpty, node.elements?.isEmpty == true else { return }
            throw YAMLMismatch(enforcement.message ?? "expected at least one element")
        }
        let isValid = rule?.allows(text) ?? true && enforcement.isValid?(text) ?? true
        guard !isValid else { return }
        if let message = enforcement.message { throw YAMLMismatch(message) }
        throw YAMLMismatch(expected: rule?.words ?? "another value", found: node)
    }
}

extension PolicyKey.Rule {
    /// Whether the text of a scalar follows the rule; of what is not of the rule's kind, the type has said it.
    fileprivate func allows(_ text: String) -> Bool {
        switch self {
        case .range(let range): Int(text).map(range.contains) ?? true
        case .oneOf(let numbers): Int(text).map(numbers.contains) ?? true
        case .durations(let range): YAMLNode.duration(text).map(range.contains) ?? true
        case .length(let range): range.contains(text.utf8.count)
        case .pattern, .notEmpty: true
        }
    }

    /// What follows the rule, for "expected …".
    fileprivate var words: String {
        switch self {
        case .range(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .oneOf(let numbers): numbers.map { "\($0)" }.joined(separator: " or ")
        case .durations(let range):
            "a duration from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        case .length(let range): "text of \(range.lowerBound) to \(range.upperBound) bytes"
        case .pattern: "text of another form"
        case .notEmpty: "a value"
        }
    }
}
