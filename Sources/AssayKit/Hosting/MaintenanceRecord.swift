internal import AssayCore

/// The record of one run of a plugin's `Maintenance`.
public struct MaintenanceRecord: Sendable {
    /// How a run ended.
    @nonexhaustive public enum Outcome: Sendable, Equatable {
        case succeeded
        /// The run threw an error, with this text.
        case failed(String)
        /// The run exceeded its time limit.
        case timedOut

        /// Compares the messages by their UTF-8 bytes.
        public static func == (left: Outcome, right: Outcome) -> Bool {
            switch (left, right) {
            case (.succeeded, .succeeded), (.timedOut, .timedOut): true
            case (.failed(let left), .failed(let right)): left.isExactly(right)
            default: false
            }
        }
    }

    /// Whose maintenance it was.
    @nonexhaustive public enum Kind: String, Sendable, Hashable {
        case provider
        case consumer
    }

    /// Whether the plugin is a provider or a consumer.
    public let kind: Kind
    /// The plugin's name.
    public let plugin: String
    /// The canonical resource name of the provider's app or of the consumer's project.
    public let resource: String
    /// How long the run took.
    public let duration: Duration
    /// How the run ended.
    public let outcome: Outcome
    /// The events that the plugin counted, with their numbers.
    public let counts: [MaintenanceEvent: Int]

    /// Makes a record of one run.
    public init(
        kind: Kind, plugin: String, resource: String, duration: Duration, outcome: Outcome,
        counts: [MaintenanceEvent: Int]
    ) {
        self.kind = kind
        self.plugin = plugin
        self.resource = resource
        self.duration = duration
        self.outcome = outcome
        self.counts = counts
    }
}
