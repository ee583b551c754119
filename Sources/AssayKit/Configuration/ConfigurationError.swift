/// Something wrong in a plugin's own section of a policy file.
///
/// A plugin names the key by its path *within its section*; the policy loader adds the file, the line and the column,
/// so that an operator reads `policies/apps.yaml:12:9: projects[0].apps[1].providers.debug.tokens[0].sha256: …`.
public struct ConfigurationError: Error, Sendable, Equatable {
    /// One step from a section to a value in it.
    public enum Component: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        /// A key of a mapping.
        case key(String)
        /// A place in a sequence, from 0.
        case index(Int)

        public static func == (left: Component, right: Component) -> Bool {
            switch (left, right) {
            case (.key(let left), .key(let right)): left.isExactly(right)
            case (.index(let left), .index(let right)): left == right
            default: false
            }
        }

        public func hash(into hasher: inout Hasher) {
            switch self {
            case .key(let name): name.hashExactly(into: &hasher)
            case .index(let index): hasher.combine(index)
            }
        }

        public init(stringLiteral value: String) {
            self = .key(value)
        }

        public init(integerLiteral value: Int) {
            self = .index(value)
        }
    }

    /// The way from the plugin's section to the value; empty for the section itself.
    public let path: [Component]
    /// What is wrong and what was expected, in words for an operator; never a secret.
    @Exact public private(set) var message: String
    /// What else is wrong in the section; see ``ConfigurationProblems``.
    public let others: [ConfigurationError]
    /// The word that is not known, and those that are: the loader adds what was perhaps meant. Nil for other problems.
    package let choice: Choice?

    /// A word that is not one of those that are known.
    package struct Choice: Sendable, Equatable {
        @Exact package private(set) var found: String
        @Exact package private(set) var known: [String]
    }

    public init(at path: [Component] = [], _ message: String) {
        self.init(at: path, message, choice: nil, others: [])
    }

    /// The problem of a word that is none of those that could stand in its place.
    ///
    /// - Parameters:
    ///   - found: the word.
    ///   - known: those that could stand there; an operator is told the nearest, or all of them.
    public init(at path: [Component] = [], _ message: String, found: String, known: [String]) {
        self.init(at: path, message, choice: Choice(found: found, known: known), others: [])
    }

    init(at path: [Component], _ message: String, choice: Choice?, others: [ConfigurationError]) {
        self.path = path
        self.choice = choice
        self.message = message
        self.others = others
    }

    /// This problem and the others, each by itself.
    public var all: [ConfigurationError] {
        [ConfigurationError(at: path, message, choice: choice, others: [])] + others
    }

    /// The same problems of a section within another one.
    public func within(_ parent: [Component]) -> ConfigurationError {
        ConfigurationError(at: parent + path, message, choice: choice, others: others.map { $0.within(parent) })
    }
}
