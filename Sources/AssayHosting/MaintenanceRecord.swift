internal import AssayCore
public import AssayKit

/// The record of one run of a provider's `Maintenance`.
public struct MaintenanceRecord: Sendable {
    /// How a run ended.
    public enum Outcome: Sendable, Equatable {
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

    /// The provider's name.
    public let provider: String
    /// The app's resource name.
    public let resource: String
    /// How long the run took.
    public let duration: Duration
    /// How the run ended.
    public let outcome: Outcome
    /// The events that the provider counted, with their numbers.
    public let counts: [MaintenanceEvent: Int]

    /// Makes a record of one run.
    public init(
        provider: String, resource: String, duration: Duration, outcome: Outcome, counts: [MaintenanceEvent: Int]
    ) {
        self.provider = provider
        self.resource = resource
        self.duration = duration
        self.outcome = outcome
        self.counts = counts
    }
}
