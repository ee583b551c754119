/// Something that holds of every input did not hold of this one.
public struct BrokenPromise: Error, Sendable, Equatable, CustomStringConvertible {
    /// What does not hold.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Throws when a promise is not kept.
    static func unless(_ isKept: Bool, _ promise: @autoclosure () -> String) throws(BrokenPromise) {
        guard isKept else { throw BrokenPromise("not so: \(promise())") }
    }
}
