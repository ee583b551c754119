package import AssayCore

extension YAMLNode {
    /// The place after the last character; of a collection without brackets, the beginning of what follows it.
    package var endLocation: SourceLocation { source.location(end) }

    /// Whether excerpts do not show it, because it may be a secret that was written in the wrong place.
    package var isConcealed: Bool { source.conceals(position..<max(position, end)) }
}

extension YAMLNode {
    /// Whether the value at a path is one of some texts, or contains one; false where there is no value.
    package func contains(anyOf texts: Set<ExactText>, at path: [ConfigurationError.Component]) -> Bool {
        var node = self
        for component in path {
            let next: YAMLNode? =
                switch component {
                case .key(let key): node[key]
                case .index(let index): node[index]
                }
            guard let next else { return false }
            node = next
        }
        return node.contains(anyOf: texts)
    }

    private func contains(anyOf texts: Set<ExactText>) -> Bool {
        switch content {
        case .scalar(let text, _): texts.contains(text)
        case .sequence(let elements): elements.contains { $0.contains(anyOf: texts) }
        case .mapping(let entries): entries.contains { $0.value.contains(anyOf: texts) }
        }
    }
}
