internal import AssayCore
internal import AssayYAML

/// Finds what a mapping that builds on another one leaves unclear, in every place where mappings are merged.
struct MergeCheck {
    /// What the other mapping is, such as `the profile`.
    let base: String
    /// Collects what is questionable.
    let warnings: DiagnosticSink
    /// The keys that are never of the other mapping.
    var ownKeys: [String] = []

    /// Reports keys without a value where the other mapping has one, and warns of a `null` that takes nothing away.
    ///
    /// A key without a value could mean that the other one's value holds, or that none does.
    func report(_ own: YAMLNode, over other: YAMLNode, at path: YAMLPath, to sink: DiagnosticSink) {
        guard case .mapping(let entries) = own.content, case .mapping(let others) = other.content else { return }
        // No reader sees a value that this mapping replaces, so its key is checked here.
        for entry in others where entry.value.isAbsent && own[entry.key] != nil {
            sink.report(entry.lacksValue(in: path))
        }
        for entry in entries where !ownKeys.contains(exactly: entry.key) {
            guard let value = other[entry.key], !value.isNull else {
                if entry.value.isNull, !entry.value.isAbsent {
                    warnings.report(
                        entry.diagnostic("takes nothing away: \(base) has no such key", in: path, severity: .warning))
                }
                continue
            }
            if entry.value.isAbsent {
                sink.report(
                    entry.diagnostic(
                        "has no value, and \(base) has one", in: path,
                        hint: "write `null` to take that away, or leave the key out to keep it"))
            } else {
                report(entry.value, over: value, at: path.key(entry.key), to: sink)
            }
        }
    }
}
