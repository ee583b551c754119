/// Something that is counted or measured: its name, what it means, and every value that its labels may have.
///
/// Values of labels are declared, or found on the way up to a limit, so that no request can make a metric grow: whatever
/// else there is is recorded as `other`.
public struct Metric: Sendable, Hashable {
    /// What kind of number it is.
    public enum Kind: Sendable, Hashable {
        /// Only goes up, and begins at 0 with the process. Its name ends in `_total`.
        case counter
        /// Goes up and down.
        case gauge
        /// How many of the values seen lie within each of these upper bounds, in rising order; durations in seconds.
        case histogram(buckets: [Double])
    }

    /// A label and the values that it may have.
    public struct Label: Sendable, Hashable {
        @Exact public private(set) var name: String
        @Exact public private(set) var values: [String]
        /// How many other values may be found on the way; 0 for a label whose values are all declared.
        public let openValues: Int

        public init(_ name: String, _ values: [String]) {
            self.init(name, values, openValues: 0)
        }

        /// A label with values that are not known beforehand, such as the apps of policies: never what a client sends.
        ///
        /// - Parameter limit: how many there may be; those that come later are `other`.
        public static func open(_ name: String, _ values: [String] = [], atMost limit: Int) -> Label {
            Label(name, values, openValues: max(0, limit))
        }

        private init(_ name: String, _ values: [String], openValues: Int) {
            self.name = name
            self.values = values
            self.openValues = openValues
        }
    }

    public let kind: Kind
    /// Lower-case words joined by underscores, the unit last; without the prefix of the program and of the plugin.
    @Exact public private(set) var name: String
    /// One sentence for people.
    @Exact public private(set) var summary: String
    public let labels: [Label]

    public init(_ kind: Kind, _ name: String, _ summary: String, labels: [Label] = []) {
        self.kind = kind
        self.name = name
        self.summary = summary
        self.labels = labels
    }

    /// A number that only goes up; its name ends in `_total`.
    public static func counter(_ name: String, _ summary: String, labels: [Label] = []) -> Metric {
        Metric(.counter, name, summary, labels: labels)
    }

    /// A number that goes up and down.
    public static func gauge(_ name: String, _ summary: String, labels: [Label] = []) -> Metric {
        Metric(.gauge, name, summary, labels: labels)
    }

    /// A distribution of values; durations are in seconds, and their name ends in `_seconds`.
    public static func histogram(
        _ name: String, _ summary: String, labels: [Label] = [], buckets: [Double] = Metric.latencies
    ) -> Metric {
        Metric(.histogram(buckets: buckets), name, summary, labels: labels)
    }

    /// From a tenth of a millisecond, which is what a challenge takes, to the 10 s after which a decision is given up.
    public static let latencies: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
}
