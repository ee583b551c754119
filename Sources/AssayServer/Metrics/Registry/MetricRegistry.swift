public import AssayCore
internal import Synchronization

/// The metrics of a process: declared once, recorded from anywhere, shown on a page that Prometheus reads.
///
/// Nothing that is recorded can make it grow without bound: labels have the values that were declared and `other`, and
/// there is a limit on all series together, beyond which new ones are not made. ``LibraryMetrics`` shows what libraries record
/// through swift-metrics on the same page.
public final class MetricRegistry: Sendable {
    private struct State {
        var families: [ExactText: MetricFamily] = [:]
        /// The names that series have on the page: a histogram has several.
        var taken: Set<ExactText> = []
        var updates: [@Sendable () -> Void] = []
    }

    /// What the names of all metrics begin with that are not standard ones.
    let prefix: String
    private let budget: SeriesBudget
    private let backend: MetricsBackend?
    private let state = Mutex(State())

    private static let familyLimit = 1000

    /// - Parameters:
    ///   - namespace: the first word of every name; empty for none.
    ///   - maximumSeries: the most series, all metrics together.
    public convenience init(namespace: String = "assay", maximumSeries: Int = 20_000) {
        self.init(namespace: namespace, maximumSeries: maximumSeries, backend: nil)
    }

    init(namespace: String, maximumSeries: Int, backend: MetricsBackend?) {
        self.backend = backend
        prefix = namespace.isEmpty ? "" : "\(namespace)_"
        budget = SeriesBudget(maximumSeries)
    }

    /// Declares a metric; a repeated declaration returns the same metric.
    ///
    /// - Parameters:
    ///   - metric: its name, kind, help and labels.
    ///   - scope: the part between the namespace and the name.
    ///   - isStandard: whether the name is one that all programs use, such as `process_resident_memory_bytes`, which
    ///     has no namespace.
    /// - Throws: ``MetricError`` when the declaration is malformed, or another metric has its name.
    @discardableResult
    public func declare(
        _ metric: Metric, scope: String = "", isStandard: Bool = false
    ) throws(MetricError) -> MetricFamily {
        try declare(
            metric, isStandard ? metric.name : prefix + scope + metric.name, budget, backend: backend)
    }

    /// Declares a metric of a library, which has a name of its own and shares a budget with other libraries only.
    func declare(ofLibrary metric: Metric, _ budget: SeriesBudget) throws(MetricError) -> MetricFamily {
        try declare(metric, metric.name, budget, backend: nil)
    }

    private func declare(
        _ metric: Metric, _ name: String, _ budget: SeriesBudget, backend: MetricsBackend?
    ) throws(MetricError) -> MetricFamily {
        let family = try state.withLock { state throws(MetricError) in
            if let known = state.families[name] {
                guard known.metric == metric else {
                    throw MetricError("the metric '\(name)' has another declaration already")
                }
                return known
            }
            if let problem = metric.problem { throw MetricError(problem) }
            guard name.utf8.allSatisfy(MetricRegistry.isAllowed) else {
                throw MetricError("the name '\(name)' of a metric must be lower-case words joined by underscores")
            }
            let names = MetricRegistry.names(metric, name)
            guard state.taken.isDisjoint(with: names), state.families.count < MetricRegistry.familyLimit else {
                throw MetricError("the metric '\(name)' has the name of another one, or there are too many metrics")
            }
            let family = try MetricFamily(metric, name: name, budget: budget, backend: backend)
            state.families[name] = family
            state.taken.formUnion(names)
            return family
        }
        // Not under the lock: a backend is code of others.
        family.start()
        return family
    }

    /// Adds code that runs before each page, to set the values that are not reported to the registry.
    public func beforeEachPage(_ update: @escaping @Sendable () -> Void) {
        state.withLock { $0.updates.append(update) }
    }

    /// The meter that records here.
    ///
    /// A metric is declared when it is first recorded.
    public var meter: Meter {
        Meter { scope, metric, change, labels in
            guard let family = self.family(metric, scope) else { return }
            family.series(labels)?.apply(change)
        }
    }

    /// Reads the values that are read before each page, for a backend that has no page.
    public func refresh() {
        let updates = state.withLock { $0.updates }
        for update in updates { update() }
    }

    /// The metrics in the order of their names.
    package func families() -> [MetricFamily] {
        refresh()
        return state.withLock { Array($0.families.values) }.sorted { $0.name.precedesExactly($1.name) }
    }

    private func family(_ metric: Metric, _ scope: String) -> MetricFamily? {
        let name = prefix + scope + metric.name
        if let known = state.withLock({ $0.families[name] }) { return known.metric == metric ? known : nil }
        return try? declare(metric, scope: scope)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILowercase || byte.isASCIIDigit || byte == UInt8(ascii: "_")
    }

    private static func names(_ metric: Metric, _ name: String) -> Set<ExactText> {
        switch metric.kind {
        // In OpenMetrics the name of a counter is without its ending.
        case .counter: Set(exactly: [name, String(decoding: name.utf8.dropLast("_total".utf8.count), as: UTF8.self)])
        case .gauge: [ExactText(name)]
        case .histogram: Set(exactly: [name, "\(name)_bucket", "\(name)_sum", "\(name)_count"])
        }
    }
}

/// The reason why a metric cannot be declared.
public struct MetricError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Which metric cannot be declared, and why.
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
