#if Simulator
internal import Histogram

/// Latencies in microseconds, to three digits.
struct LoadLatencies: Sendable {
    /// The longest latency that is told apart from longer ones: more than an hour.
    static let longest: UInt64 = 1 << 32
    /// The most latencies, so that no sum overflows.
    static let mostCounted: UInt64 = 1 << 31

    private var histogram = Histogram<UInt64>(
        lowestDiscernibleValue: 1, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)

    var count: UInt64 { histogram.totalCount }

    mutating func record(_ microseconds: UInt64, count: UInt64 = 1) {
        guard count <= Self.mostCounted, self.count <= Self.mostCounted - count else { return }
        histogram.record(min(microseconds, Self.longest - 1), count: count)
    }

    mutating func add(_ other: LoadLatencies) {
        for (value, count) in other.pairs { record(value, count: count) }
    }

    /// Each recorded value with its count: all that the histogram knows.
    var pairs: [(value: UInt64, count: UInt64)] {
        histogram.recordedValues().map { (histogram.lowestEquivalentForValue($0.value), $0.count) }
    }

    /// The distribution by percentiles, in milliseconds, as HdrHistogram writes it.
    var distribution: String {
        var text = ""
        histogram.outputPercentileDistribution(to: &text, outputValueUnitScalingRatio: 1000)
        return text
    }

    /// The latency that this percentage did not exceed, in milliseconds; nil without any.
    func milliseconds(_ percentile: Double) -> Double? {
        count == 0 ? nil : Double(histogram.valueAtPercentile(percentile)) / 1000
    }
}

/// What became of the calls of one method.
struct LoadCounts: Sendable {
    /// The calls that were due in the measured phase.
    var due = 0
    var sent = 0
    var accepted = 0
    /// Answered, but not with what was asked for.
    var refused = 0
    /// Sent and not answered: the connection broke, or the time was over.
    var lost = 0
    /// Sent more than a millisecond after they were due.
    var late = 0
    /// Replies within the measured phase, whenever their calls were due: what throughput is counted by.
    var acceptedInTime = 0
    var refusedInTime = 0
    var replaysRefused = 0
    var replaysAccepted = 0
    var latency = LoadLatencies()
    /// The latencies of refused calls: a server beyond its capacity should refuse at once.
    var refusal = LoadLatencies()

    mutating func add(_ other: LoadCounts) {
        for (_, path) in Self.numbers { self[keyPath: path] += other[keyPath: path] }
        latency.add(other.latency)
        refusal.add(other.refusal)
    }

    /// The numbers with their names in JSON.
    static var numbers: [(name: String, path: WritableKeyPath<LoadCounts, Int>)] {
        [
            ("due", \.due), ("sent", \.sent), ("accepted", \.accepted), ("refused", \.refused), ("lost", \.lost),
            ("late", \.late), ("acceptedInTime", \.acceptedInTime), ("refusedInTime", \.refusedInTime),
            ("replaysRefused", \.replaysRefused), ("replaysAccepted", \.replaysAccepted),
        ]
    }
}

/// What became of all calls, by method and by error.
struct LoadTally: Sendable {
    /// A kind of failed call.
    struct Problem: Sendable, Hashable {
        let method: LoadMethod
        /// 0 for a call without an answer.
        let status: Int
        /// The bytes of the body, or of the words for what happened.
        let words: [UInt8]
    }

    /// The most kinds of problems that are told apart.
    private static let problemLimit = 64

    private(set) var methods = [LoadCounts](repeating: LoadCounts(), count: LoadMethod.allCases.count)
    private(set) var problems: [Problem: Int] = [:]

    subscript(method: LoadMethod) -> LoadCounts {
        get { methods[method.index] }
        _modify { yield &methods[method.index] }
    }

    mutating func count(_ problem: Problem, times: Int = 1) {
        let isNew = problems[problem] == nil && problems.count >= Self.problemLimit
        let other = Problem(method: problem.method, status: problem.status, words: Array("other".utf8))
        problems[isNew ? other : problem, default: 0] += times
    }

    /// All methods together.
    var total: LoadCounts { methods.reduce(into: LoadCounts()) { $0.add($1) } }

    mutating func add(_ other: LoadTally) {
        for method in LoadMethod.allCases { self[method].add(other[method]) }
        for (problem, times) in other.problems { count(problem, times: times) }
    }
}
#endif
