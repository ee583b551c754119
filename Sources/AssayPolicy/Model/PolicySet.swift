internal import AssayKit
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
    /// What is wrong already; nil when nothing is. No engine takes a set with problems.
    public let problems: Diagnostics?
    /// What is questionable, and no reason to refuse the policies; nil when nothing is.
    public let warnings: Diagnostics?
    /// What a server for production refuses of what the loader itself reads; nil for nothing.
    package let development: Diagnostics?
    /// Whether every project that the files define is known, so that one that is not known does not exist.
    package let knowsAllProjects: Bool

    /// How many apps there are, and how many OAuth clients, which are no apps.
    public var counts: (apps: Int, oauthClients: Int) {
        let clients = apps.count { $0.identity.kind == .oauthClient }
        return (apps.count - clients, clients)
    }
}

extension PolicySet {
    /// Loads policy files, which together are one set.
    ///
    /// - Throws: what is wrong in any of them, with file, line, column and the path of the key, as far as that can be
    ///   known without any plugin.
    public static func load(_ files: [PolicyFile]) throws(Diagnostics) -> PolicySet {
        let policies = read(files)
        if let problems = policies.problems { throw problems }
        return policies
    }

    /// Reads policy files as far as they are good, and keeps what is wrong in ``problems``.
    ///
    /// An engine, or a check, that is given the set looks at the sections of plugins as well and reports everything
    /// together: this is how an operator sees all mistakes at once. Whoever uses the set itself asks for problems first.
    public static func read(_ files: [PolicyFile]) -> PolicySet {
        read(files, isWhole: true, problems: DiagnosticSink())
    }

    /// - Parameters:
    ///   - isWhole: whether these are all the files.
    ///   - sink: holds what is wrong with other files.
    static func read(_ files: [PolicyFile], isWhole: Bool, problems sink: DiagnosticSink) -> PolicySet {
        var loader = PolicyLoader(sink: sink, isWhole: isWhole)
        for file in files where !sink.isOverfull { loader.read(file) }
        return loader.policies
    }
}
