/// Gathers what is wrong in a section, so that an operator sees all of it at once and not one problem a run.
public struct ConfigurationProblems: Sendable {
    private var found: [ConfigurationError] = []

    /// Who has made so many mistakes reads no more of them.
    private static let limit = 100

    public init() {}

    public var isEmpty: Bool { found.isEmpty }

    /// Takes a problem.
    public mutating func report(at path: [ConfigurationError.Component] = [], _ message: String) {
        report(ConfigurationError(at: path, message))
    }

    public mutating func report(_ error: ConfigurationError) {
        for error in error.all where found.count < ConfigurationProblems.limit { found.append(error) }
    }

    /// The result of a check; nil when it throws, which is taken.
    public mutating func attempt<Value>(_ check: () throws(ConfigurationError) -> Value) -> Value? {
        do throws(ConfigurationError) {
            return try check()
        } catch {
            report(error)
            return nil
        }
    }

    /// - Throws: everything that was taken, as one error; returns when there was nothing.
    public func throwIfAny() throws(ConfigurationError) {
        guard let first = found.first else { return }
        throw ConfigurationError(
            at: first.path, first.message, choice: first.choice, others: Array(found.dropFirst()))
    }
}
