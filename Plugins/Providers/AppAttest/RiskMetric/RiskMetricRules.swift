internal import AssayKit

/// What a policy makes of risk metrics.
struct RiskMetricRules: Sendable {
    /// How long after its attestation a key need not have a metric: maintenance has to come around to it first.
    static let grace = Duration.seconds(1800)

    /// The metric above which evidence is refused; nil for never.
    let limit: Int?
    let refusesUnknown: Bool
    /// How old a receipt is before it is exchanged again.
    let refreshInterval: Duration

    /// Why a key's metric is not good enough; nil when it is.
    ///
    /// - Parameter attested: when the key was attested.
    func judge(_ metric: RiskMetric?, attested: Instant, at now: Instant) -> AppAttestRefusal? {
        guard let metric else {
            guard refusesUnknown, now >= attested + Self.grace else { return nil }
            return AppAttestRefusal(AppAttestReasons.riskMetricUnknown)
        }
        guard let limit, metric.value > limit else { return nil }
        return AppAttestRefusal(AppAttestReasons.riskMetricTooHigh, "\(metric.value), and at most \(limit) is allowed")
    }
}

/// About how many keys an app attested on a device in the 30 days before a point in time.
struct RiskMetric: Sendable, Hashable {
    let value: Int
    /// When Apple made the receipt that says so.
    let determined: Instant
}
