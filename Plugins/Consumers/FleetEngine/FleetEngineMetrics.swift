internal import AssayKit

/// What is counted of tokens for Fleet Engine.
enum FleetEngineMetrics {
    static let tokens = Metric.counter(
        "tokens_total", "Tokens that were given out, newly signed or once more.",
        labels: [.init("role", FleetEngineRole.allCases.map(\.rawValue)), .init("result", ["minted", "reused"])])
    static let callbacks = Metric.counter(
        "callbacks_total", "What came of questions to the operator's backend.",
        labels: [.init("result", CallbackResult.allCases.map(\.rawValue))])
    static let all = [tokens, callbacks]
}
