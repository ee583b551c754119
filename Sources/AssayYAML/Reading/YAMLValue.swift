package import AssayCore

/// A value on the way of a reader through a file: the node, the path to it, and where problems go.
///
/// The readers return nil after they have reported an error; the caller continues and checks the sink at the end.
package struct YAMLValue {
    package let node: YAMLNode
    package let path: YAMLPath
    package let sink: DiagnosticSink

    package init(_ node: YAMLNode, path: YAMLPath = .root, sink: DiagnosticSink) {
        self.node = node
        self.path = path
        self.sink = sink
    }

    package var location: SourceLocation { node.location }

    /// The value as any decodable type, in the ways of `YAMLDecoder`.
    ///
    /// - Parameter key: the description of the value, with the rule that is enforced.
    package func decode<T: Decodable>(_ type: T.Type, as key: PolicyKey? = nil) -> T? {
        YAMLDecoder().decode(type, from: node, path: path, key: key, log: nil, into: sink)
    }

    /// The value as a mapping; a value that was left out is an empty one.
    package func mapping() -> YAMLMapping? {
        guard let entries = node.entries else {
            report(YAMLMismatch(expected: "a mapping", found: node))
            return nil
        }
        return YAMLMapping(self, entries)
    }

    /// The value as the mapping that a type is decoded from; if the type may contain a secret, no part of it is
    /// repeated.
    package func mapping(for type: any Decodable.Type) -> YAMLMapping? {
        guard node.entries == nil, ValueShape.mayHoldSecret(type) else { return mapping() }
        node.conceal()
        report(YAMLMismatch(expected: "a mapping", found: node).reticent)
        return nil
    }

    /// The value of one key of a mapping whose other keys are read elsewhere; nil when it is missing or null, or has no value,
    /// which is reported.
    package func member(_ key: String) -> YAMLValue? {
        guard let entry = node.entries?.first(where: { $0.key.isExactly(key) }) else { return nil }
        if entry.value.isAbsent { sink.report(entry.lacksValue(in: path)) }
        return entry.value.isNull ? nil : YAMLValue(entry.value, path: path.key(key), sink: sink)
    }

    /// The elements of a sequence.
    package func elements() -> [YAMLValue]? {
        guard let elements = node.elements else {
            report(YAMLMismatch(expected: "a sequence", found: node))
            return nil
        }
        return elements.enumerated().map { YAMLValue($0.element, path: path.index($0.offset), sink: sink) }
    }

    /// Reports a problem with the value.
    package func report(_ message: String, hint: String? = nil, related: [Diagnostic.Note] = []) {
        sink.report(node.diagnostic(message, path: path, hint: hint, related: related))
    }

    /// Reports a name of a wrong form, with what a reader cannot see in it; a name is no secret.
    package func report(name: String, _ message: String) {
        sink.report(node.diagnostic(message, path: path, name: name))
    }

    /// Reports something questionable about the value.
    package func warn(_ message: String, hint: String? = nil, into sink: DiagnosticSink) {
        sink.report(node.diagnostic(message, path: path, hint: hint, severity: .warning))
    }

    private func report(_ mismatch: YAMLMismatch) {
        report(mismatch.message, hint: mismatch.hint)
    }
}
