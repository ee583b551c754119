/// A promise of a contract that an implementation broke.
public struct SuiteFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The check that found it: the name of a promise, stable.
    public let promise: String
    /// What was expected, and what happened instead.
    public let detail: String

    public init(promise: String, detail: String) {
        self.promise = promise
        self.detail = detail
    }

    public var description: String { "\(promise): \(detail)" }
}
