internal import AssayApple
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Logging

/// Keeps the receipts of one app's keys, and knows the risk metrics that they tell.
struct RiskMetricWatch: Sendable {
    let rules: RiskMetricRules
    let exchange: ReceiptExchange
    /// SHA-256 of the root certificate that receipts are verified under: what was kept under another is worth nothing.
    let root: [UInt8]

    init(
        _ configuration: RiskMetricConfiguration, team: String, appID: AppAttestAppID, verifier: ReceiptVerifier,
        root: [UInt8], host: PluginHost
    ) throws(ConfigurationError) {
        rules = try configuration.rules()
        self.root = root
        exchange = ReceiptExchange(
            http: host.http, clock: host.clock, randomness: host.randomness,
            key: try AppleServerKey.named(
                configuration.keyID, teamID: team, privateKey: configuration.privateKey, secrets: host.secrets),
            form: configuration.authorization ?? .bare, endpoints: try configuration.endpoints(), verifier: verifier,
            appID: appID)
    }

    /// Keeps the receipt of an attestation, for exchange at once.
    ///
    /// Returns the key's metric if it is known, because the key was attested before.
    ///
    /// A store that fails here does not make the attestation fail: the metric is a signal, and its absence is judged.
    func remember(_ attestation: VerifiedAttestation, _ context: ProviderContext) async -> RiskMetric? {
        guard case .verified(let receipt)? = attestation.receipt, let bytes = attestation.receiptBytes else {
            return nil
        }
        let receipts = receipts(in: context.state)
        let key = KeptReceipt.keyName(publicKey: attestation.publicKey)
        do {
            let earlier = try await known(key, receipts)
            let kept = KeptReceipt(
                receipt, bytes: bytes, environment: attestation.environment,
                publicKey: attestation.publicKey, root: root, earlier: earlier?.metric)
            try await receipts.keep(kept, of: key)
            try await receipts.wish(kept, of: key)
            return kept.metric
        } catch {
            context.logger.warning("a receipt cannot be kept", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// The metric of a key that has just proved itself.
    ///
    /// The metric is exchanged again when it is due, but not for unused keys.
    func metric(of publicKey: [UInt8], _ context: ProviderContext) async throws -> RiskMetric? {
        let receipts = receipts(in: context.state)
        let key = KeptReceipt.keyName(publicKey: publicKey)
        guard let kept = try await known(key, receipts) else { return nil }
        try await receipts.wish(kept, of: key)
        return kept.metric
    }

    func receipts(in state: StateSpace) -> KeptReceipts {
        KeptReceipts(state: state, refreshInterval: rules.refreshInterval)
    }

    func known(_ key: String, _ receipts: KeptReceipts) async throws -> KeptReceipt? {
        guard let kept = try await receipts.receipt(of: key), kept.root == root else { return nil }
        return kept
    }
}

/// What a policy makes of risk metrics.
struct RiskMetricRules: Sendable {
    /// How long after its attestation a key need not have a metric: maintenance has to come around to it first.
    static let grace = Duration.seconds(1800)

    /// The metric above which evidence is refused; nil for never.
    let limit: Int?
    let refusesUnknown: Bool
    /// How old a receipt is before it is exchanged again.
    let refreshInterval: Duration

    /// Why a key's metric is refused; nil when it is accepted.
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
