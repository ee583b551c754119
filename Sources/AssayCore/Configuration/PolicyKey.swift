/// The meaning of a policy key, and the rules for its value beyond the type.
public struct PolicyKey: Sendable, ExpressibleByStringLiteral {
    /// A rule for values, stated for editors and checked by the configuration's own code.
    ///
    /// The decoder checks it instead if the key is ``PolicyKey/enforced(_:where:)``.
    @nonexhaustive public enum Rule: Sendable, Hashable {
        /// A regular expression (ECMA-262) that the whole text matches, with `^` and `$`.
        case pattern(String)
        /// The fewest and the most characters of a text.
        case length(ClosedRange<Int>)
        /// The least and the greatest number.
        case range(ClosedRange<Int>)
        /// The shortest and the longest duration.
        case durations(ClosedRange<Duration>)
        /// One of a few whole numbers.
        case oneOf([Int])
        /// A list has at least one element.
        case notEmpty
    }

    /// One or two sentences for the person who writes the policy.
    public let text: String
    /// The rule that values must follow beyond their type; nil for none.
    public let rule: Rule?
    /// The default value, as it would be written; nil when the default cannot be written as a value.
    public let standard: JSON?
    /// Examples of values.
    public let examples: [JSON]
    /// The kind of names in its value; nil if they are not names.
    public let names: Names?
    /// Which values are for development only; URLs of this machine when nothing is said.
    public let development: Development
    /// How the decoder of policies enforces the rule; nil when the configuration's own code does.
    package private(set) var enforcement: Enforcement?

    /// What the decoder of policies checks by itself.
    package struct Enforcement: Sendable {
        package let message: String?
        package let isValid: (@Sendable (String) -> Bool)?
    }

    /// Describes a key; ``text`` and ``rule`` come first, the rest is optional.
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

    /// Describes a key by its text alone.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension PolicyKey {
    /// The same key, whose rule the decoder of policies enforces, so that the configuration need not check it.
    ///
    /// The decoder counts the bytes of a text. A pattern is for editors alone: `isValid` says the same in code.
    ///
    /// - `message`: what is wrong with any other value; nil for a message with the bounds of the rule.
    /// - `isValid`: whether the text of a value is allowed by more than the rule; nil for no such test.
    public func enforced(
        _ message: String? = nil, where isValid: (@Sendable (String) -> Bool)? = nil
    ) -> PolicyKey {
        var key = self
        key.enforcement = Enforcement(message: message, isValid: isValid)
        return key
    }
}

extension PolicyKey {
    /// Which values of a key are for development only.
    ///
    /// A server for production (`assay serve --production`) refuses them at their line; the plugin itself need not look
    /// at them.
    @nonexhaustive public enum Development: Sendable, Hashable {
        /// URLs of this machine (``EndpointURL/isOnThisMachine``), at which a simulation replaces another server.
        case localURLs
        /// Any value, such as the root of a simulated authority.
        case anyValue
        /// These words, in upper or lower case, and URLs of this machine. `true` and `false` count as words; in a list,
        /// each element is checked.
        case words([ExactText])
        /// No value, not even URLs of this machine: for a server that runs next to this one.
        case none
    }

    /// What the words in a value are names of.
    ///
    /// An unknown name is refused at its line, with a suggestion; the plugin need not check names.
    @nonexhaustive public enum Names: Sendable, Hashable {
        /// Providers: those of the program, and the kernel's own for minted tokens. A list gets a warning if no app of
        /// the project has any of them.
        case providers
        /// App IDs and OAuth client IDs of the project.
        case apps
    }
}
