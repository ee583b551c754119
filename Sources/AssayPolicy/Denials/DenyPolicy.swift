package import AssayCore
package import AssayYAML

/// One entry of the deny list: what it refuses, and until when.
public struct DenyPolicy: Sendable {
    /// Who is refused.
    enum Subject: Sendable {
        /// Evidence with facts that fulfil all conditions.
        case facts([RulePolicy.Condition])
        /// The token with this `jti`.
        case token(ExactText)
    }

    let subject: Subject
    /// The app ID or OAuth client ID that it is about; nil for all.
    @Exact package private(set) var app: String?
    /// The number of the project that it is about; nil for all.
    @Exact package private(set) var project: String?
    /// When it ends; nil for never.
    package let until: Instant?
    /// Why it is there.
    @Exact package private(set) var note: String?
    /// Its place in a file, or the name of an entry that administrators added.
    let place: String
    /// The entry itself, for messages.
    let node: YAMLNode
    let path: YAMLPath

    /// Warns of an entry that has ended.
    package func reportEnd(before now: Instant, to warnings: DiagnosticSink) {
        guard let until, until <= now else { return }
        warnings.report(diagnostic("the entry ended at \(until), and refuses nothing any more", severity: .warning))
    }

    /// A problem with the entry as a whole.
    func diagnostic(_ message: String, severity: Diagnostic.Severity = .error) -> Diagnostic {
        node.diagnostic(message, path: path, severity: severity)
    }
}

/// An entry of the deny list as records and callers are told about it.
package struct Denial: Sendable, Hashable {
    /// Its place in a file, or the name of an entry that administrators added.
    @Exact package private(set) var place: String
    /// Why it is there; nil when nobody said it.
    @Exact package private(set) var note: String?

    /// Where the entry is and why, for records: `the deny list refuses it (deny.yaml:3:5): incident 42`.
    package var words: String { "the deny list refuses it (\(place))" + (note.map { ": \($0)" } ?? "") }
}
