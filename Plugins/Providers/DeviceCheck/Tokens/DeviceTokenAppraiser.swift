internal import AssayCrypto
public import AssayKit

/// Appraises opaque device tokens that only their vendor can judge: the whole of a provider but for its name and its
/// configuration.
///
/// A provider for another vendor than Apple is a ``DeviceTokenUpstream``, which says how the vendor is asked and what its
/// answers mean, and an `AttestationProvider` that hands its requests to an appraiser. Bounds, deadlines, retries, the
/// circuit breaker, reuse and bits are the same for all.
public struct DeviceTokenAppraiser: Sendable {
    /// What a provider's descriptor lists.
    public static let facts: [FactName] = [.deviceBit0, .deviceBit1, .deviceBitsUpdated]
    /// What a provider's descriptor lists.
    public static let metrics = DeviceTokenMetrics.all

    private let upstream: any DeviceTokenUpstream
    private let rules: DeviceTokenRules
    private let reasons: DeviceTokenReasons
    private let randomness: Randomness
    private let inquiry: UpstreamInquiry

    public init(
        upstream: any DeviceTokenUpstream, rules: DeviceTokenRules, reasons: DeviceTokenReasons, host: Host
    ) {
        self.upstream = upstream
        self.rules = rules
        self.reasons = reasons
        randomness = host.randomness
        inquiry = UpstreamInquiry(upstream: upstream, gate: .to(upstream.server, host: host), host: host)
    }

    /// Whether a token is genuine, new, and of a device that the policy does not refuse.
    ///
    /// - Throws: ``CallFailure`` with `UNAVAILABLE` and a time to come back at when the vendor did not decide; what the
    ///   state store throws.
    public func appraise(_ deviceToken: String, _ context: Context) async throws -> Verdict {
        guard let token = upstream.canonical(deviceToken) else { return .refused(reasons.malformed) }
        let name = "token.\(Hex.encode(SHA256.hash(Array(token.utf8))))"
        if rules.memory != nil, try await context.state.get(name) != nil { return .refused(reasons.reused) }
        // One question tells both, and a token may be good for one only.
        let kind: DeviceQuestion.Kind = rules.refuseWhen == nil ? .validate : .query
        let bits: DeviceBits?
        switch await inquiry.ask(DeviceQuestion(kind, token, randomness: randomness), deadline: context.deadline) {
        case .refused(let detail): return .refused(reasons.refused, detail: detail)
        case .undecided(let failure): throw Self.unavailable(failure)
        case .genuine(let found): bits = found
        }
        if let rule = rules.refuseWhen {
            guard let bits else { throw Self.unavailable(UpstreamFailure(.malformed, "no bits")) }
            if rule.matches(bits) { return .refused(reasons.bits) }
        }
        // Only a good token is remembered, so that a client may come back with one that could not be judged. Of two at
        // once, one is first.
        if let memory = rules.memory, try await !context.state.insert(name, expires: context.now + memory) {
            return .refused(reasons.reused)
        }
        return .verified(Appraisal(facts: bits.map(Self.facts) ?? []))
    }

    /// Sets those bits of a token's device that are not nil.
    ///
    /// - Throws: ``InvalidRequest`` when it is no token; ``CallFailure`` when the vendor refused it, or did not decide.
    public func update(_ deviceToken: String, bit0: Bool?, bit1: Bool?, _ context: Context) async throws {
        guard let token = upstream.canonical(deviceToken) else {
            throw InvalidRequest("the field 'deviceToken' is no device token")
        }
        let question = DeviceQuestion(.update(bit0: bit0, bit1: bit1), token, randomness: randomness)
        switch await inquiry.ask(question, deadline: context.deadline) {
        case .genuine: return
        case .refused(let detail):
            throw CallFailure(
                .invalidArgument, "The device token was not accepted.", reason: reasons.refused, detail: detail)
        case .undecided(let failure): throw Self.unavailable(failure)
        }
    }

    private static func unavailable(_ failure: UpstreamFailure) -> CallFailure {
        CallFailure(
            .unavailable, "The service is currently unavailable.", detail: "\(failure)",
            retryAfter: max(failure.retryAfter ?? .seconds(5), .seconds(1)))
    }

    private static func facts(_ bits: DeviceBits) -> [Fact] {
        var facts = [Fact(.deviceBit0, .bool(bits.bit0)), Fact(.deviceBit1, .bool(bits.bit1))]
        if let month = bits.lastUpdate { facts.append(Fact(.deviceBitsUpdated, .text(month))) }
        return facts
    }
}

extension FactName {
    public static let deviceBit0: FactName = "device_bit0"
    public static let deviceBit1: FactName = "device_bit1"
    /// The month in which the bits were set last, `YYYY-MM`; absent when they never were.
    public static let deviceBitsUpdated: FactName = "device_bits_updated"
}
