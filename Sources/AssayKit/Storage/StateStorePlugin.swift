public import AssayCore

/// A state store that an operator can choose by its scheme, as in `--state sqlite:PATH`.
public protocol StateStorePlugin: StateStore {
    /// The scheme, and what operators should know.
    static var descriptor: StorageDescriptor { get }

    /// Opens the store, and creates it if it does not exist.
    ///
    /// - `location`: the text after the colon.
    /// - `host`: the clock, a log and a meter, and the source of secrets that the location may name.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator.
    static func open(_ location: String, host: StorageHost) async throws(StateStoreOpeningError) -> Self

    /// Opens the store in the form of contract 2: a store that has ``open(_:host:)`` does not have it.
    @available(*, deprecated, message: "open the store by open(_:host:)")
    static func open(_ location: String, clock: HostClock) async throws(StateStoreOpeningError) -> Self

    /// Does work for the life of a server, such as removing expired entries, until its task is cancelled; nothing by
    /// default.
    ///
    /// A run that throws is logged, `/readyz` says so, and another one begins after a pause. One that returns has
    /// nothing more to do. Other commands than `serve` do not call it.
    func run() async throws

    /// What an operator should know of the store although it works, such as what it may forget; nil by default.
    ///
    /// `/readyz` shows it to operators, and the log has it at the start. It returns at once.
    var caution: String? { get }

    /// Ends all work and frees what the store holds. It is called once, at the end of every command.
    ///
    /// Operations in progress end or throw; every later operation throws.
    func close() async

    /// Writes a complete copy of a store to a file, while others use the store: its state at one instant between two
    /// writes.
    ///
    /// - `path`: where the copy is written; what ``open(_:host:)`` takes as a location. Nothing is there before, and
    ///   after an error.
    /// - `entries`: additional entries of the copy.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator; also for a store that cannot be copied to a
    ///   file.
    static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError)

    /// Checks a store for damage, while others use it; creates nothing if it does not exist.
    ///
    /// - Returns: the findings, in words for an operator.
    /// - Throws: ``StateStoreOpeningError`` when the store does not exist.
    static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings

    /// Makes what a store needs before servers use it, or brings what an earlier release made to the present form.
    ///
    /// For operators whose servers run with fewer rights than that takes.
    ///
    /// - Returns: what was done, in words for an operator.
    /// - Throws: ``StateStoreOpeningError`` with words for an operator.
    static func migrate(_ location: String) async throws(StateStoreOpeningError) -> String
}

extension StateStorePlugin {
    /// The text before the colon: `sqlite`.
    public static var scheme: String { descriptor.scheme }

    /// Opens a store of contract 2.
    @available(*, deprecated, message: "open the store by open(_:host:), as contract 3 says")
    public static func open(_ location: String, host: StorageHost) async throws(StateStoreOpeningError) -> Self {
        try await open(location, clock: host.clock)
    }

    /// Always fails: a store of contract 3 has ``open(_:host:)``.
    @available(*, deprecated, message: "open the store by open(_:host:)")
    public static func open(_ location: String, clock: HostClock) async throws(StateStoreOpeningError) -> Self {
        throw StateStoreOpeningError("\(scheme): the store cannot be opened, for it has no open(_:host:)")
    }

    /// Nothing to do.
    public func run() async throws {}

    /// Nothing to know.
    public var caution: String? { nil }

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

    /// Nothing to do: by default a store is made when it is opened.
    public static func migrate(_ location: String) async throws(StateStoreOpeningError) -> String {
        "\(scheme): nothing to do"
    }
}

/// The findings of ``StateStorePlugin/examine(_:)``.
public struct StateStoreFindings: Sendable, Equatable {
    /// The problems; none for a sound store.
    @Exact public private(set) var problems: [String]
    /// A summary of the store's contents, one line each.
    @Exact public private(set) var contents: [String]

    /// Makes findings from problems and from a summary of the contents.
    public init(problems: [String], contents: [String]) {
        self.problems = problems
        self.contents = contents
    }
}

/// The reason why a state store cannot be opened.
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
