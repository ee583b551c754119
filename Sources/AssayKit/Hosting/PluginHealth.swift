public import AssayCore

/// What a plugin is for.
@nonexhaustive public enum PluginKind: String, Sendable, Hashable, CaseIterable {
    /// Appraises evidence.
    case provider
    /// Turns valid tokens into what a relying party needs.
    case consumer
    /// Keeps the state.
    case store
    /// Receives the records of decisions.
    case sink
    /// Keeps the keys of the service.
    case vault
}

/// Whether a plugin of a running program can do its work.
public struct PluginHealth: Sendable, Hashable {
    /// The states of a plugin.
    @nonexhaustive public enum State: String, Sendable, Hashable, CaseIterable {
        /// Nothing is known to be wrong.
        case ready
        /// Policies name it, but its calls fail at present: its own check says so, or calls of an instance kept failing and
        /// none succeeded since.
        case failing
        /// It could not be made when the program started; policies that name it are refused.
        case unavailable
    }

    /// What the plugin is for.
    public let kind: PluginKind
    /// The plugin's name in policies and options.
    @Exact public private(set) var name: String
    /// The plugin's own version; empty when it has none.
    @Exact public private(set) var version: String
    /// Whether it can do its work.
    public let state: State
    /// What is wrong, in words for an operator; nil when it is ready.
    @Exact public private(set) var reason: String?

    /// Describes the health of one plugin; without a reason it is ready.
    public init(_ kind: PluginKind, _ name: String, version: String = "", state: State = .ready, reason: String? = nil)
    {
        self.kind = kind
        self.name = name
        self.version = version
        self.state = state
        self.reason = reason
    }

    /// The state, and what is wrong: `unavailable: /usr/lib/vendor-plugin: No such file or directory`.
    public var summary: String { reason.map { "\(state.rawValue): \($0)" } ?? state.rawValue }
}
