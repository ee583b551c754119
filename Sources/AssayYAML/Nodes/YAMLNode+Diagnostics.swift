package import AssayCore

extension YAMLNode {
    /// A problem with this value.
    package func diagnostic(
        _ message: String, path: YAMLPath, hint: String? = nil, related: [Diagnostic.Note] = [],
        severity: Diagnostic.Severity = .error, name: String? = nil
    ) -> Diagnostic {
        Diagnostic(
            severity, in: source, from: position, to: isCollection ? nil : end, path: path, message: message,
            hint: hint, related: related, name: name ?? plainText(at: path))
    }

    /// The text, if it is short and no secret: a reader may not see what is in it.
    private func plainText(at path: YAMLPath) -> String? {
        guard case .scalar(let text, _) = content, text.utf8.count <= 256, !text.utf8.allSatisfy({ $0 < 0x80 }),
            !source.conceals(position..<max(position, end))
        else { return nil }
        let key = path.components.last { if case .key = $0 { true } else { false } }
        guard case .key(let name)? = key, SecretNames.mayNameSecret(name) else { return text }
        return ["file:", "env:"].contains { text.starts(withExactly: $0) } ? text : nil
    }

    /// The problems that a plugin found in its own section, at the values it names.
    ///
    /// `path` is the path of this node. A value that is not in the file is shown at the nearest enclosing value that
    /// is.
    package func diagnostics(for error: ConfigurationError, path: YAMLPath) -> [Diagnostic] {
        error.all.map { error in
            let hint = error.choice.flatMap { Spelling.hint(for: $0.found, among: $0.known) }
            // Where a mapping or a list begins below its key, the key itself cannot be seen.
            if case .key(let key)? = error.path.last,
                let entry = descendant(error.path.dropLast()).entries?.first(where: { $0.key.isExactly(key) }),
                entry.value.isCollection, entry.keySource === entry.value.source,
                entry.keyPosition.line < entry.value.position.line
            {
                return entry.diagnostic(error.message, in: path.appending(error.path.dropLast()), hint: hint)
            }
            return descendant(error.path).diagnostic(error.message, path: path.appending(error.path), hint: hint)
        }
    }

    /// What a plugin finds questionable in its own section, at the values it names.
    package func diagnostics(for warnings: [ConfigurationWarning], path: YAMLPath) -> [Diagnostic] {
        warnings.map {
            descendant($0.path).diagnostic($0.message, path: path.appending($0.path), severity: .warning)
        }
    }

    /// The value at a relative path, or the last one on the way to it.
    package func descendant(_ components: some Sequence<ConfigurationError.Component>) -> YAMLNode {
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
    /// Lets excerpts show the value although the name of the key resembles that of a secret.
    package func showsValue() {
        guard SecretNames.mayNameSecret(key) else { return }
        // A value that was put in the place of an alias is elsewhere, and keeps what is hidden there.
        let end = keySource === value.source && keyPosition < value.position ? max(keyEnd, value.end) : keyEnd
        keySource.show(keyPosition..<max(keyPosition, end))
    }

    /// A problem with the key itself; `path` is the path of the mapping.
    package func diagnostic(
        _ message: String, in path: YAMLPath, hint: String? = nil, related: [Diagnostic.Note] = [],
        severity: Diagnostic.Severity = .error
    ) -> Diagnostic {
        Diagnostic(
            severity, in: keySource, from: keyPosition, to: keyEnd, path: path.key(key), message: message,
            hint: hint, related: related, name: key)
    }
}

extension YAMLSource {
    func diagnostic(
        _ message: String, at position: YAMLPosition, path: YAMLPath, hint: String? = nil,
        related: [Diagnostic.Note] = []
    ) -> Diagnostic {
        Diagnostic(in: self, from: position, to: nil, path: path, message: message, hint: hint, related: related)
    }
}
