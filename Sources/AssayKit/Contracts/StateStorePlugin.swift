/// A state store that an operator can choose by name, as in `--state sqlite:PATH`.
public protocol StateStorePlugin: StateStore {
    /// What stands before the colon: `sqlite`.
    static var scheme: String { get }

    /// Opens the store, and makes it where there is none.
    ///
    /// - Parameter location: what stands behind the colon.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator.
    static func open(_ location: String, clock: HostClock) async throws(StateStoreOpeningError) -> Self
}

/// Why a state store cannot be opened.
public struct StateStoreOpeningError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
