/// A counter or a measurement: its name, its meaning, and every value that its labels may have.
///
/// Label cardinality is bounded: values are declared, or added at run time up to a limit. Any further value is recorded
/// as `other`.
public struct Metric: Sendable, Hashable {
    /// What kind of number it is.
    @nonexhaustive public enum Kind: Sendable, Hashable {
        /// Starts at 0 with the process and never decreases. Its name ends in `_total`.
        case counter
        /// Goes up and down.
        case gauge
        /// How many of the values are within each of these upper bounds, in rising order; durations in seconds.
        case histogram(buckets: [Double])
    }

    /// A label and the values that it may have.
    public struct Label: Sendable, Hashable {
        /// The label's name in the exposition format: lower-case letters, digits and underscores.
        @Exact public private(set) var name: String
        /// The declared values.
        @Exact public private(set) var values: [String]
        /// How many undeclared values may be added at run time; 0 for a label whose values are all declared.
        public let openValues: Int

        /// Makes a label whose values are all declared.
        public init(_ name: String, _ values: [String]) {
            self.init(name, values, openValues: 0)
        }

        /// A label with values that are not known beforehand, such as the apps of policies: never what a client sends.
        ///
        /// - `limit`: the most values; later ones count as `other`.
        public static func open(_ name: String, _ values: [String] = [], atMost limit: Int) -> Label {
            Label(name, values, openValues: max(0, limit))
        }

        private init(_ name: String, _ values: [String], openValues: Int) {
            self.name = name
            self.values = values
            self.openValues = openValues
        }
    }

    /// Whether the metric is a counter, a gauge or a histogram.
    public let kind: Kind
    /// Lower-case words joined by underscores, the unit last; without the prefix of the program and of the plugin.
    @Exact public private(set) var name: String
    /// One sentence for people.
    @Exact public private(set) var summary: String
    /// The labels, in the order in which their values are passed.
    public let labels: [Label]

    /// Describes a metric; nothing is registered or checked here.
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

    /// From a tenth of a millisecond, the time of a challenge, to the time limit of a decision, 10 s.
    public static let latencies: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
}

extension Metric {
    /// What is wrong with the declaration, by the rules of the exposition formats and of this library; nil when nothing
    /// is.
    package var problem: String? {
        guard Metric.isName(name) else { return "the metric '\(name)' must be lower-case words joined by underscores" }
        switch kind {
        case .counter:
            guard name.ends(withExactly: "_total") else { return "the counter '\(name)' must end in _total" }
        case .gauge, .histogram:
            // These endings have another meaning in the format.
            for ending in ["_total", "_bucket", "_count", "_sum", "_created", "_info"]
            where name.ends(withExactly: ending) {
                guard ending.isExactly("_info"), kind == .gauge else {
                    return "the metric '\(name)' must not end in \(ending)"
                }
            }
        }
        if case .histogram(let buckets) = kind {
            let isRising = zip(buckets, buckets.dropFirst()).allSatisfy { $0 < $1 }
            guard (1...64).contains(buckets.count), isRising, buckets.allSatisfy(\.isFinite) else {
                return "the buckets of '\(name)' must be 1 to 64 finite numbers in rising order"
            }
        }
        guard labels.count <= 6, Set(labels.map { ExactText($0.name) }).count == labels.count else {
            return "the metric '\(name)' may have up to 6 labels, no two of one name"
        }
        for label in labels {
            guard Metric.isName(label.name), !["le", "quantile"].contains(exactly: label.name) else {
                return "the label '\(label.name)' of '\(name)' must be lower-case words joined by underscores"
            }
            guard label.values.count <= 4096, label.openValues <= 65_536,
                label.values.allSatisfy({ $0.utf8.count <= Label.valueLimit })
            else {
                return "the label '\(label.name)' of '\(name)' may have up to 4096 values of \(Label.valueLimit) bytes"
            }
        }
        return nil
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isASCIILowercase, text.utf8.count <= 100,
            !zip(text.utf8, text.utf8.dropFirst()).contains(where: { $0 == UInt8(ascii: "_") && $1 == $0 })
        else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            byte.isASCIILowercase || byte.isASCIIDigit || byte == UInt8(ascii: "_")
        }
    }
}

extension Metric.Label {
    /// How many bytes a value may have.
    package static let valueLimit = 128
}
