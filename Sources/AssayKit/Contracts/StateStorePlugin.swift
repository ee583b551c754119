/// A state store that an operator can choose by name, as in `--state sqlite:PATH`.
public protocol StateStorePlugin: StateStore {
    /// What stands before the colon: `sqlite`.
    static var scheme: String { get }

    /// Opens the store, and makes it where there is none.
    ///
    /// - Parameter location: what stands behind the colon.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator.
    static func open(_ location: String, clock: HostClock) async throws(StateStoreOpeningError) -> Self

    /// Writes a whole copy of a store to a file, while others use the store: as it is at one instant between two writes.
    ///
    /// - Parameters:
    ///   - path: where the copy is written; what ``open(_:clock:)`` takes as a location. Nothing is there before, and
    ///     after an error.
    ///   - entries: are written into the copy beside what it holds.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator; for a store that cannot be copied to a file, too.
    static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError)

    /// Looks for damage in a store, while others use it, and makes nothing where there is none.
    ///
    /// - Returns: what was found, in words for an operator, and whether it is sound.
    /// - Throws: ``StateStoreOpeningError`` when there is nothing to look at.
    static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings
}

extension StateStorePlugin {
    public static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {
        throw StateStoreOpeningError("\(scheme): this store is copied by means of its own")
    }

    public static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        throw StateStoreOpeningError("\(scheme): this store is examined by means of its own")
    }
}

/// What ``StateStorePlugin/examine(_:)`` found.
public struct StateStoreFindings: Sendable, Equatable {
    /// What is wrong; none for a sound store.
    @Exact public private(set) var problems: [String]
    /// What the store holds, a line each.
    @Exact public private(set) var contents: [String]

    public init(problems: [String], contents: [String]) {
        self.problems = problems
        self.contents = contents
    }
}

/// Why a state store cannot be opened.
public struct StateStoreOpeningError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
