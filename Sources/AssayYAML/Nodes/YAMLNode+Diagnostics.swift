package import AssayKit

extension YAMLNode {
    /// A problem with this value.
    package func diagnostic(
        _ message: String, path: YAMLPath, hint: String? = nil, related: [Diagnostic.Note] = []
    ) -> Diagnostic {
        source.diagnostic(message, at: position, path: path, hint: hint, related: related)
    }

    /// The problem that a plugin found in its own section, at the value it names.
    ///
    /// `path` is this node's own. A value that is not in the file is shown at the nearest value around it that is.
    package func diagnostic(for error: ConfigurationError, path: YAMLPath) -> Diagnostic {
        descendant(error.path).diagnostic(error.message, path: path.appending(error.path))
    }

    /// The value at a relative path, or the last one on the way to it.
    func descendant(_ components: some Sequence<ConfigurationError.Component>) -> YAMLNode {
        var node = self
        for component in components {
            let next: YAMLNode? =
                switch component {
                case .key(let key): node[key]
                case .index(let index): node[index]
                }
            guard let next else { return node }
            node = next
        }
        return node
    }
}

extension YAMLEntry {
    /// A problem with the key itself; `path` is that of the mapping.
    package func diagnostic(
        _ message: String, in path: YAMLPath, hint: String? = nil, related: [Diagnostic.Note] = []
    ) -> Diagnostic {
        value.source.diagnostic(message, at: keyPosition, path: path.key(key), hint: hint, related: related)
    }
}

extension YAMLSource {
    func diagnostic(
        _ message: String, at position: YAMLPosition, path: YAMLPath, hint: String? = nil,
        related: [Diagnostic.Note] = []
    ) -> Diagnostic {
        Diagnostic(
            location: location(position), path: path.description, message: message, hint: hint, related: related,
            excerpt: excerpt(at: position))
    }
}
