internal import AssayKit

/// What is counted of the questions to the vendor.
enum DeviceTokenMetrics {
    static let answers = Metric.counter(
        "answers_total", "What came of questions to the upstream.",
        labels: [.init("result", ["genuine", "refused"] + UpstreamFailure.Kind.allCases.map(\.rawValue))])
    static let circuitChanges = Metric.counter(
        "circuit_changes_total", "How often the circuit breaker entered a state by an answer.",
        labels: [.init("state", CircuitBreaker.State.allCases.map(\.rawValue))])
    static let all = [answers, circuitChanges]
}
