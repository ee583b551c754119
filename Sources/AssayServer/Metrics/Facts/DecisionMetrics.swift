public import AssayCore
public import AssayKit

/// Counts decisions: their outcomes, their reasons, and their durations.
///
/// A sink like any other: give it to the engine, alone or among `DecisionSinks`.
public struct DecisionMetrics: DecisionSink {
    /// A method, and the provider that it belongs to; nil for one of the kernel.
    public struct Method: Sendable, Hashable {
        /// The value of the label `method`.
        @Exact public private(set) var name: String
        /// The provider's name; nil for a method of the kernel.
        @Exact public private(set) var provider: String?

        /// Makes a method from its name and its provider.
        public init(_ name: String, provider: String?) {
            self.name = name
            self.provider = provider
        }
    }

    private let decisions: MetricFamily
    private let durations: MetricFamily
    private let errors: MetricFamily
    private let challenges: MetricFamily
    private let tokens: MetricFamily
    private let uses: MetricFamily

    /// Declares the metrics in a registry.
    ///
    /// - `methods`: all methods that can be called; others count as `other`.
    /// - `providers`: all providers that records may name, as the engine's registry lists it; others count as
    ///   `other`.
    /// - `reasons`: all reasons of refusals, as the engine's registry lists it; others count as `other`.
    public init(
        methods: [Method], providers names: [String], reasons: [Reason], in registry: MetricRegistry
    ) throws(MetricError) {
        let methodNames = Metric.Label("method", methods.map(\.name))
        // For a call that did not reach a provider, the label is empty, which means absent.
        let providers = Metric.Label("provider", [""] + methods.compactMap(\.provider) + names)
        let causes = [""] + reasons.map(\.code) + StatusCode.allCases.map(\.rawValue)
        decisions = try registry.declare(
            .counter(
                "decisions_total",
                "Decisions by their outcomes: refused is invalid evidence, rejected an invalid request, error a fault of the service.",
                labels: [
                    methodNames, providers, .init("outcome", DecisionMetrics.outcomes), .init("reason", causes),
                    .open("app", [""], atMost: 16_384),
                ]))
        durations = try registry.declare(
            .histogram(
                "decision_duration_seconds", "How long decisions took.",
                labels: [methodNames, .init("outcome", DecisionMetrics.outcomes)]))
        errors = try registry.declare(
            .counter(
                "decision_errors_total",
                "Calls without a decision because of a fault of the service. Every method is present from the start.",
                labels: [methodNames]))
        challenges = try registry.declare(
            .counter("challenges_issued_total", "Challenges issued.", labels: [methodNames, providers]))
        for method in methods {
            if let provider = method.provider { _ = challenges.series(method.name, provider) }
        }
        tokens = try registry.declare(
            .counter(
                "tokens_issued_total", "Tokens issued; limited-use ones can be used once.",
                labels: [providers, .init("limited_use", ["true", "false"])]))
        uses = try registry.declare(
            .counter(
                "token_uses_total",
                "Requests that had a token, or should have had one, in the categories of App Check.",
                labels: [
                    .open("project", atMost: 1024), .open("service", [""], atMost: 256),
                    .open("app", [""], atMost: 16_384),
                    .init("category", TokenUse.Category.allCases.map(\.rawValue)),
                    .init("enforcement", [""] + EnforcementMode.allCases.map(\.rawValue)),
                    .init("admitted", ["true", "false"]),
                ]))
        // An alert on an event that has not happened yet needs a series that can increase.
        for method in methods {
            _ = errors.series([method.name])
            guard let provider = method.provider else { continue }
            _ = decisions.series([method.name, provider, "error", StatusCode.unavailable.rawValue, ""])
            _ = decisions.series([method.name, provider, "error", StatusCode.internalError.rawValue, ""])
        }
    }

    private static let outcomes = ["challenged", "issued", "answered", "refused", "rejected", "error"]

    /// Counts a decision, its duration, its reason and the use of its token.
    public func record(_ record: DecisionRecord) {
        let provider = record.provider ?? ""
        let outcome: String
        var reason = ""
        switch record.outcome {
        case .challenged:
            outcome = "challenged"
            challenges.series(record.method, provider)?.add()
        case .issued(_, let limitedUse, _):
            outcome = "issued"
            tokens.series(provider, limitedUse ? "true" : "false")?.add()
        case .answered:
            outcome = "answered"
        case .refused(let cause):
            outcome = "refused"
            reason = cause.code
        case .rejected(let status):
            outcome = "rejected"
            reason = status.rawValue
        case .failed(let status):
            outcome = "error"
            reason = status.rawValue
            errors.series([record.method])?.add()
        }
        if let use = record.tokenUse {
            let kind = [use.category.rawValue, use.enforcement?.rawValue ?? "", use.isAdmitted ? "true" : "false"]
            uses.series(
                [use.project, use.service ?? "", use.app ?? ""] + kind,
                orElse: [LabelSpace.other, LabelSpace.other, LabelSpace.other] + kind)?.add()
        }
        let kind = [record.method, provider, outcome, reason]
        if let app = record.app {
            decisions.series(kind + [app], orElse: kind + [LabelSpace.other])?.add()
        } else {
            decisions.series(kind + [""])?.add()
        }
        durations.series(record.method, outcome)?.observe(max(record.duration, .zero) / .seconds(1))
    }
}
