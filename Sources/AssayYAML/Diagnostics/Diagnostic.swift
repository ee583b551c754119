/// One thing wrong in a policy file: where, which key, what, and what was perhaps meant.
public struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
    /// A second place that belongs to the problem.
    public struct Note: Sendable, Hashable {
        public let location: SourceLocation
        /// Why the place matters, such as "first defined here".
        public let message: String

        package init(location: SourceLocation, message: String) {
            self.location = location
            self.message = message
        }
    }

    /// Where; nil when the problem is not in a file's text, such as a file that cannot be read.
    public let location: SourceLocation?
    /// The way from the root to the value, such as `projects[0].apps[1].token_ttl`; empty for the root.
    public let path: String
    /// What is wrong, and what was expected.
    public let message: String
    /// What was perhaps meant, such as "did you mean `token_ttl`?".
    public let hint: String?
    /// Other places that belong to the problem.
    public let related: [Note]
    /// The source line for the caret; nil when there is none to show.
    public let excerpt: SourceExcerpt?

    package init(
        location: SourceLocation?, path: String = "", message: String, hint: String? = nil, related: [Note] = [],
        excerpt: SourceExcerpt? = nil
    ) {
        self.location = location
        self.path = path
        self.message = DisplayText.line(message)
        self.hint = hint.map(DisplayText.line)
        self.related = related
        self.excerpt = excerpt
    }

    /// The same without the source line, for values that may be a secret written in the wrong place.
    package var withoutExcerpt: Diagnostic {
        Diagnostic(location: location, path: path, message: message, hint: hint, related: related)
    }

    /// `file:line:column: path: message`, then the hint, the source line with its caret, and the related places.
    public var description: String {
        var head = [location?.description, path.isEmpty ? nil : path, message].compactMap { $0 }.joined(separator: ": ")
        if let hint { head += "\n  \(hint)" }
        if let excerpt { head += "\n\(excerpt)" }
        for note in related { head += "\n  \(note.location): \(note.message)" }
        return head
    }
}
