public import AssayCore

/// A state store that an operator can choose by name, as in `--state sqlite:PATH`.
public protocol StateStorePlugin: StateStore {
    /// The text before the colon: `sqlite`.
    static var scheme: String { get }

    /// Opens the store, and creates it if it does not exist.
    ///
    /// - Parameter location: the text after the colon.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator.
    static func open(_ location: String, clock: HostClock) async throws(StateStoreOpeningError) -> Self

    /// Writes a whole copy of a store to a file, while others use the store: as it is at one instant between two
    /// writes.
    ///
    /// - Parameters:
    ///   - path: where the copy is written; what ``open(_:clock:)`` takes as a location. Nothing is there before, and
    ///     after an error.
    ///   - entries: are written into the copy beside what it holds.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator; for a store that cannot be copied to a file,
    ///   too.
    static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError)

    /// Looks for damage in a store, while others use it, and creates nothing if it does not exist.
    ///
    /// - Returns: what was found, in words for an operator, and whether it is sound.
    /// - Throws: ``StateStoreOpeningError`` when the store does not exist.
    static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings
}

extension StateStorePlugin {
    /// Always fails: by default a store is copied with its own tools.
    public static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {
        throw StateStoreOpeningError("\(scheme): use this store's own tools to copy it")
    }

    /// Always fails: by default a store is examined with its own tools.
    public static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        throw StateStoreOpeningError("\(scheme): use this store's own tools to examine it")
    }
}

/// What ``StateStorePlugin/examine(_:)`` found.
public struct StateStoreFindings: Sendable, Equatable {
    /// What is wrong; none for a sound store.
    @Exact public private(set) var problems: [String]
    /// What the store holds, a line each.
    @Exact public private(set) var contents: [String]

    /// Makes findings from problems and from a summary of the contents.
    public init(problems: [String], contents: [String]) {
        self.problems = problems
        self.contents = contents
    }
}

/// Why a state store cannot be opened.
public struct StateStoreOpeningError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for operators.
    @Exact public private(set) var message: String

    /// Makes an error with a message for operators.
    public init(_ message: String) {
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
