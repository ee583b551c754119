/// What to say of a value that is none of an enumeration's cases.
enum ClosedChoice {
    /// A message that lists the raw values; nil for a type that is no enumeration of strings.
    static func mismatch(_ type: any Any.Type, _ node: YAMLNode) -> YAMLMismatch? {
        guard let names = names(of: type) else { return nil }
        var hint: String?
        if case .scalar(let text, _) = node.content {
            hint = Spelling.suggestion(for: text, among: names).map { "did you mean `\($0)`?" }
        }
        let listed = names.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
        let expected = names.count == 1 ? listed : "one of \(listed)\(names.count > 20 ? ", …" : "")"
        return YAMLMismatch(expected: expected, found: node, hint: hint)
    }

    /// The raw values; nil for a type that is no enumeration of strings.
    static func names(of type: any Any.Type) -> [String]? {
        let names = (type as? any CaseIterable.Type).map { rawValues(of: $0) } ?? []
        return names.isEmpty ? nil : names
    }

    private static func rawValues<T: CaseIterable>(of type: T.Type) -> [String] {
        type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
    }
}
