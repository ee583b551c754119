/// Something wrong in a plugin's own section of a policy file.
///
/// A plugin names the key by its path *within its section*; the policy loader adds the file, the line and the column,
/// so that an operator reads `policies/apps.yaml:12:9: projects[0].apps[1].providers.debug.tokens[0].sha256: …`.
public struct ConfigurationError: Error, Sendable, Equatable {
    /// One step from a section to a value in it.
    @nonexhaustive public enum Component: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        /// A key of a mapping.
        case key(String)
        /// A place in a sequence, from 0.
        case index(Int)

        /// Compares keys by their UTF-8 bytes.
        public static func == (left: Component, right: Component) -> Bool {
            switch (left, right) {
            case (.key(let left), .key(let right)): left.isExactly(right)
            case (.index(let left), .index(let right)): left == right
            default: false
            }
        }

        /// Hashes keys by their UTF-8 bytes.
        public func hash(into hasher: inout Hasher) {
            switch self {
            case .key(let name): name.hashExactly(into: &hasher)
            case .index(let index): hasher.combine(index)
            }
        }

        /// A key of a mapping.
        public init(stringLiteral value: String) {
            self = .key(value)
        }

        /// An index of a list, which starts at 0.
        public init(integerLiteral value: Int) {
            self = .index(value)
        }
    }

    /// The way from the plugin's section to the value; empty for the section itself.
    public let path: [Component]
    /// The error and the expected value, in words for an operator; never a secret.
    @Exact public private(set) var message: String
    /// Further errors in the section; see ``ConfigurationProblems``.
    public let others: [ConfigurationError]
    /// The unknown word, and the known ones: the loader adds a suggestion.
    ///
    /// Nil for other problems.
    package let choice: Choice?

    /// An unknown word with the known ones.
    package struct Choice: Sendable, Equatable {
        @Exact package private(set) var found: String
        @Exact package private(set) var known: [String]
    }

    /// Makes an error at a path within the plugin's section; an empty path means the section itself.
    public init(at path: [Component] = [], _ message: String) {
        self.init(at: path, message, choice: nil, others: [])
    }

    /// The error for a word that is not among the allowed ones.
    ///
    /// - `found`: the word.
    /// - `known`: the allowed words; the operator sees the nearest one, or all.
    public init(at path: [Component] = [], _ message: String, found: String, known: [String]) {
        self.init(at: path, message, choice: Choice(found: found, known: known), others: [])
    }

    init(at path: [Component], _ message: String, choice: Choice?, others: [ConfigurationError]) {
        self.path = path
        self.choice = choice
        self.message = message
        self.others = others
    }

    /// This problem and the others, each separately.
    public var all: [ConfigurationError] {
        [ConfigurationError(at: path, message, choice: choice, others: [])] + others
    }

    /// The same problems of a section within another one.
    public func within(_ parent: [Component]) -> ConfigurationError {
        ConfigurationError(at: parent + path, message, choice: choice, others: others.map { $0.within(parent) })
    }
}

/// Collects the errors in a section, so that an operator sees all of them at once.
public struct ConfigurationProblems: Sendable {
    private var found: [ConfigurationError] = []

    /// Further errors would not be read.
    private static let limit = 100

    /// Makes an empty list of problems.
    public init() {}

    /// Whether no problem was reported.
    public var isEmpty: Bool { found.isEmpty }

    /// Adds an error.
    public mutating func report(at path: [ConfigurationError.Component] = [], _ message: String) {
        report(ConfigurationError(at: path, message))
    }

    /// Adds an error and the others that it carries; beyond 100 problems the rest is dropped.
    public mutating func report(_ error: ConfigurationError) {
        for error in error.all where found.count < ConfigurationProblems.limit { found.append(error) }
    }

    /// The result of a check; nil when it throws, and its error is added.
    public mutating func attempt<Value>(_ check: () throws(ConfigurationError) -> Value) -> Value? {
        do throws(ConfigurationError) {
            return try check()
        } catch {
            report(error)
            return nil
        }
    }

    /// - Throws: all added errors as one; returns when there are none.
    public func throwIfAny() throws(ConfigurationError) {
        guard let first = found.first else { return }
        throw ConfigurationError(
            at: first.path, first.message, choice: first.choice, others: Array(found.dropFirst()))
    }
}

/// Something questionable in a plugin's own section of a policy, and no reason to refuse it.
public struct ConfigurationWarning: Sendable, Equatable {
    /// The way from the plugin's section to the value; empty for the section itself.
    public let path: [ConfigurationError.Component]
    /// The warning and what to do, in words for an operator; never a secret.
    @Exact public private(set) var message: String

    /// Makes a warning at a path within the plugin's section; an empty path means the section itself.
    public init(at path: [ConfigurationError.Component] = [], _ message: String) {
        self.path = path
        self.message = message
    }
}
