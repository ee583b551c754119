public import AssayCore
internal import AssayKit
public import AssayYAML

/// The content of all policy files together, with the checks that need no plugin.
public struct PolicySet: Sendable {
    /// The folder at which relative paths in the files begin, as in `file:PATH`; nil for the folder that the program runs in.
    package internal(set) var folder: String?
    /// How tokens are signed.
    public let tokens: TokenPolicy
    /// Which evidence is captured, and for whom; nil for none.
    public let capture: CapturePolicy?
    /// The callers of methods that demand a permission.
    public let callers: [CallerPolicy]
    /// The projects, in the order in which the files name them.
    public let projects: [ProjectPolicy]
    /// The apps and OAuth clients of all projects.
    public internal(set) var apps: [AppPolicy]
    /// The keys of the root that the loader does not know.
    let sections: [PolicySection]
    /// The errors so far; nil when there are none.
    ///
    /// An engine refuses a set with problems.
    public internal(set) var problems: Diagnostics?
    /// The warnings about the policies; nil when there are none.
    public internal(set) var warnings: Diagnostics?
    /// The settings read by the loader that a server for production refuses; nil when there are none.
    package let development: Diagnostics?
    /// Whether every project of the files is known, so that an unknown one does not exist.
    package let knowsAllProjects: Bool
    /// What the files say, in short.
    public let revision: PolicyRevision
    /// The deny list of the files.
    package let denials: [DenyPolicy]
    /// The files, as far as they could be read.
    let roots: [YAMLNode]

    /// The number of apps, and of OAuth clients, which do not count as apps.
    public var counts: (apps: Int, oauthClients: Int) {
        let clients = apps.count { $0.identity.kind == .oauthClient }
        return (apps.count - clients, clients)
    }
}

extension PolicySet {
    /// Loads policy files, which together are one set.
    ///
    /// - Throws: the errors of all files, with file, line, column and the path of the key, as far as they can be found
    ///   without any plugin.
    public static func load(_ files: [PolicyFile]) throws(Diagnostics) -> PolicySet {
        let policies = read(files)
        if let problems = policies.problems { throw problems }
        return policies
    }

    /// Reads the valid parts of policy files, and keeps the errors in ``problems``.
    ///
    /// An engine or a check then adds the errors in the sections of plugins, and reports everything together, so that
    /// an operator sees all errors at once. A caller that uses the set itself must read ``problems`` first.
    public static func read(_ files: [PolicyFile]) -> PolicySet {
        read(files, isWhole: true, problems: DiagnosticSink())
    }

    /// Policies that cannot be read at all.
    ///
    /// - Parameters:
    ///   - place: the file that is wrong.
    ///   - message: what is wrong with it.
    package static func unreadable(_ place: String, _ message: String) -> PolicySet {
        let sink = DiagnosticSink()
        sink.report(Diagnostics(Diagnostic(file: place, location: nil, message: message)))
        return read([], isWhole: false, problems: sink)
    }

    /// - Parameters:
    ///   - isWhole: whether these are all the files.
    ///   - sink: holds what is wrong with other files.
    static func read(_ files: [PolicyFile], isWhole: Bool, problems sink: DiagnosticSink) -> PolicySet {
        var loader = PolicyLoader(sink: sink, isWhole: isWhole)
        loader.read(files)
        return loader.policies
    }
}
