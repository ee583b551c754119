public import AssayYAML

/// What all policy files together say, checked as far as that is possible without knowing any plugin.
public struct PolicySet: Sendable {
    /// How tokens are signed.
    public let tokens: TokenPolicy
    /// Who may call methods that demand a permission.
    public let callers: [CallerPolicy]
    public let projects: [ProjectPolicy]
    /// The apps and OAuth clients of all projects.
    public let apps: [AppPolicy]
}

extension PolicySet {
    /// Loads policy files, which together are one set.
    ///
    /// - Throws: what is wrong in any of them, with file, line, column and the path of the key.
    public static func load(_ files: [PolicyFile]) throws(Diagnostics) -> PolicySet {
        let sink = DiagnosticSink()
        var loader = PolicyLoader(sink: sink)
        for file in files where !sink.isOverfull { loader.read(file) }
        try sink.throwIfAny()
        return loader.policies
    }
}
