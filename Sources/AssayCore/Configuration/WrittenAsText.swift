/// A type that a policy writes as text of a certain form, such as a time or a reference to a secret.
///
/// Editors complete and check values by the form. Decoding reads the whole text, and refuses text without the form.
public protocol WrittenAsText: Decodable {
    static var textForm: TextForm { get }
}

/// What text of a type looks like.
public struct TextForm: Sendable, Hashable {
    /// The meaning of the text, for the person who writes it.
    @Exact public private(set) var summary: String
    /// A regular expression (ECMA-262) that the whole text matches, with `^` and `$`.
    @Exact public private(set) var pattern: String
    /// Texts that are of the form.
    @Exact public private(set) var examples: [String]
    /// Whether other text may be a secret that was written here by mistake: it is never shown.
    public let mayBeSecret: Bool

    /// Makes a form from a summary, a regular expression for JSON Schema, and examples that match it.
    public init(_ summary: String, pattern: String, examples: [String], mayBeSecret: Bool = false) {
        self.summary = summary
        self.pattern = pattern
        self.examples = examples
        self.mayBeSecret = mayBeSecret
    }
}

extension SecretReference: WrittenAsText {
    /// The form in policies: `env:NAME` or `file:PATH`.
    public static let textForm = TextForm(
        "Where the secret is stored, `env:NAME` or `file:PATH`; never the secret itself.",
        pattern: "^(env|file):[\\s\\S]+$", examples: ["env:ASSAY_SECRET", "file:/run/secrets/assay"],
        mayBeSecret: true)
}

extension Instant: WrittenAsText {
    /// The form in policies: a time of RFC 3339 with an offset.
    public static let textForm = TextForm(
        "A time (RFC 3339).",
        pattern:
            "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
        examples: ["2026-12-31T23:59:59Z"])
}

extension EndpointURL: WrittenAsText {
    /// The form in policies: a URL that ``EndpointURL`` accepts.
    public static let textForm = TextForm(
        "A URL; http for this machine only, and without user, password and fragment.",
        pattern:
            """
            ^(https://([A-Za-z0-9_][A-Za-z0-9._-]{0,252}|\\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\\])\
            |http://(localhost|127\\.0\\.0\\.1|\\[::1\\]))(:[0-9]{1,5})?([/?][!$-;=?-\\[\\]_a-z~]*)?$
            """,
        examples: ["https://example.com/"])
}
