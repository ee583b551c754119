public import AssayCore

/// The user on whose behalf a token is exchanged (RFC 8693, section 1.1), identified by a JWT of an issuer that the
/// policy trusts.
public struct VerifiedActor: Sendable, Hashable {
    /// `iss`.
    @Exact public private(set) var issuer: String
    /// `sub`.
    @Exact public private(set) var subject: String
    /// All claims.
    public let claims: JSON

    /// Makes an actor from verified claims.
    public init(issuer: String, subject: String, claims: JSON) {
        self.issuer = issuer
        self.subject = subject
        self.claims = claims
    }

    /// A claim that is a text, found by a path with dots for nested claims; nil when it is absent or not a text.
    public func text(at path: String) -> String? {
        value(at: path)?.string
    }

    /// The texts of a claim: those in a list, or the text itself; none when it is absent.
    public func texts(at path: String) -> [String] {
        switch value(at: path) {
        case .string(let text)?: [text]
        case .array(let elements)?: elements.compactMap(\.string)
        default: []
        }
    }

    /// A claim by its whole name or, if no claim has that name, by a path with dots.
    private func value(at path: String) -> JSON? {
        if let value = claims[path] { return value }
        var value: JSON? = claims
        for name in path.split(onASCII: ".") where !name.isEmpty { value = value?[String(name)] }
        return value
    }
}
