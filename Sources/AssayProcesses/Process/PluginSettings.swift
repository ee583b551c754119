public import AssayCore
public import AssayKit

/// A plugin in another process as `plugins.yaml` describes it.
public struct PluginSettings: Sendable {
    /// Where the process is from.
    public enum Origin: Sendable {
        /// Assay starts it.
        case command(ProcessCommand)
        /// Somebody else starts it; it listens on this Unix socket.
        case socket(String)
    }

    /// Whether it is a provider or a consumer.
    public var kind: PluginKind
    /// The name in policies.
    @Exact public var name: String
    /// Where the process is from.
    public var origin: Origin
    /// What it may take.
    public var limits = ProcessLimits()

    /// Describes a plugin.
    public init(kind: PluginKind, name: String, origin: Origin) {
        self.kind = kind
        self.name = name
        self.origin = origin
    }
}

/// A command that Assay starts.
public struct ProcessCommand: Sendable {
    /// The absolute path of the executable, and its arguments.
    public var words: [String]
    /// The SHA-256 of the executable, 32 bytes; nil when it is not checked.
    public var digest: [UInt8]?
    /// The account that it runs as, which only root can choose; nil for Assay's own.
    public var user: String?
    /// The variables of its environment, which has nothing else but `ASSAY_PLUGIN_SOCKET`.
    public var environment: [(name: String, value: String)] = []

    /// Describes a command.
    public init(_ words: [String]) {
        self.words = words
    }
}

/// The times of a process, and how often it is started again.
public struct ProcessLimits: Sendable, Hashable {
    /// From the start to the answer that says what the plugin is.
    public var startTime = Duration.seconds(10)
    /// For an answer about a section of a policy.
    public var configureTime = Duration.seconds(5)
    /// Between two questions about its health.
    public var healthInterval = Duration.seconds(5)
    /// For an answer about its health; after three that fail it is ended, and started again.
    public var healthTime = Duration.seconds(2)
    /// From the request to end to SIGTERM, and from there to SIGKILL.
    public var endTime = Duration.seconds(3)
    /// How often in a row it is started again without having worked for a minute.
    public var restarts = 16
    /// The wait before the first of these starts; the longest is 30 seconds.
    public var firstPause = Duration.milliseconds(250)

    /// The usual limits.
    public init() {}
}
