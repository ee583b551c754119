internal import AssayCore
internal import AssayCrypto

/// The newest receipt of a key, with its known facts.
///
/// It is stored as these bytes, numbers with the most significant byte first, a missing number as the least one:
///
///     1 ‖ environment (0 development, 1 production) ‖ SHA-256 of the root, 32 ‖ 04 ‖ X ‖ Y, 65 ‖ created 8
///     ‖ not before 8 ‖ expires 8 ‖ risk metric 8 ‖ when that was determined 8 ‖ next try 8 ‖ failures 1 ‖ receipt
struct KeptReceipt: Sendable, Equatable {
    private static let version: UInt8 = 1
    private static let headCount = 148

    var environment: AppAttestEnvironment
    /// SHA-256 of the root certificate that the receipt was verified under.
    var root: [UInt8]
    /// The attested key, `04 ‖ X ‖ Y`.
    var publicKey: [UInt8]
    var created: Instant
    /// The time from which Apple exchanges it; nil for at once.
    var notBefore: Instant?
    var expires: Instant
    /// The metric, which the receipt of an attestation lacks.
    var metric: RiskMetric?
    /// When it is tried again after failures.
    var nextTry: Instant?
    /// How many tries have failed one after the other.
    var failures: UInt8 = 0
    var receipt: [UInt8]

    /// A receipt that was verified just now.
    init(
        _ receipt: Receipt, bytes: [UInt8], environment: AppAttestEnvironment, publicKey: [UInt8], root: [UInt8],
        earlier: RiskMetric? = nil
    ) {
        self.environment = environment
        self.root = root
        self.publicKey = publicKey
        created = receipt.created
        notBefore = receipt.notBefore
        expires = receipt.expires
        metric = receipt.riskMetric.map { RiskMetric(value: $0, determined: receipt.created) } ?? earlier
        self.receipt = bytes
    }

    /// When it is due for exchange: every server computes the same time, so that they agree on its place in the order.
    func due(refreshInterval: Duration) -> Instant {
        if let nextTry { return nextTry }
        guard let notBefore else { return created }
        return max(notBefore, created + refreshInterval)
    }

    /// The key's part of names in the state.
    static func keyName(publicKey: [UInt8]) -> String {
        Hex.encode(SHA256.hash(publicKey))
    }

    init?(encoded bytes: [UInt8]) {
        guard bytes.count > Self.headCount, bytes[0] == Self.version, bytes[1] <= 1 else { return nil }
        func instant(_ offset: Int) -> Instant? {
            let bits = bytes[offset..<offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let number = Int64(bitPattern: bits)
            return number == .min ? nil : Instant(milliseconds: number)
        }
        guard let created = instant(99), let expires = instant(115) else { return nil }
        environment = bytes[1] == 0 ? .development : .production
        root = Array(bytes[2..<34])
        publicKey = Array(bytes[34..<99])
        self.created = created
        notBefore = instant(107)
        self.expires = expires
        if let value = instant(123), let determined = instant(131) {
            metric = RiskMetric(value: Int(value.milliseconds), determined: determined)
        }
        nextTry = instant(139)
        failures = bytes[147]
        receipt = Array(bytes[Self.headCount...])
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.version, environment == .development ? 0 : 1]
        bytes += root
        bytes += publicKey
        func append(_ number: Int64?) {
            let bits = UInt64(bitPattern: number ?? .min)
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * index))) }
        }
        append(created.milliseconds)
        append(notBefore?.milliseconds)
        append(expires.milliseconds)
        append(metric.map { Int64($0.value) })
        append(metric?.determined.milliseconds)
        append(nextTry?.milliseconds)
        bytes.append(failures)
        return bytes + receipt
    }
}
