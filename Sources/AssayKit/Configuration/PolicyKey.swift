/// What a key of a policy means, and what is demanded of its value beyond the type.
public struct PolicyKey: Sendable, ExpressibleByStringLiteral {
    /// A rule that the configuration's own code checks, told to editors as well. A test holds both together.
    public enum Rule: Sendable, Hashable {
        /// A regular expression (ECMA-262) that the whole text matches, with `^` and `$`.
        case pattern(String)
        /// The fewest and the most characters of a text.
        case length(ClosedRange<Int>)
        /// The least and the greatest whole number.
        case range(ClosedRange<Int>)
        /// The shortest and the longest duration.
        case durations(ClosedRange<Duration>)
        /// A list has at least one element.
        case notEmpty
    }

    /// A sentence or two for the person who writes the policy.
    public let text: String
    public let rule: Rule?
    /// What holds when the key is absent, as it would be written; nil when that is no value.
    public let standard: JSON?
    /// Values that could stand there.
    public let examples: [JSON]
    /// What the words in its value are names of; nil where they are no such names.
    public let names: Names?
    /// Which values are for development only; URLs of this machine when nothing is said.
    public let development: Development

    public init(
        _ text: String, _ rule: Rule? = nil, standard: JSON? = nil, examples: [JSON] = [], names: Names? = nil,
        development: Development = .localURLs
    ) {
        self.text = text
        self.rule = rule
        self.standard = standard
        self.examples = examples
        self.names = names
        self.development = development
    }

    public init(stringLiteral text: String) {
        self.init(text)
    }
}
