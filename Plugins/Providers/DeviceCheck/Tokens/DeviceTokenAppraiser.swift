public import AssayCore
internal import AssayCrypto
public import AssayKit

/// Appraises opaque device tokens that only their vendor can judge: the whole of a provider except its name and its
/// configuration.
///
/// A provider for another vendor than Apple is a ``DeviceTokenUpstream``, which defines the requests and the meaning of
/// the answers, and an `AttestationProvider` that forwards its requests to an appraiser. Limits, deadlines, retries,
/// the circuit breaker, reuse and bits are the same for all.
public struct DeviceTokenAppraiser: Sendable {
    /// What a provider's descriptor lists.
    public static let facts: [FactName] = [.deviceBit0, .deviceBit1, .deviceBitsUpdated]
    /// What a provider's descriptor lists.
    public static let metrics = UpstreamInquiry.metrics

    private let upstream: any DeviceTokenUpstream
    private let rules: DeviceTokenRules
    private let reasons: DeviceTokenReasons
    private let randomness: Randomness
    private let clock: HostClock
    private let inquiry: UpstreamInquiry
    /// The tokens that were used, of all apps of the account; a token tells no time, and is remembered as long as the policy says.
    private let used: OneTimeUse

    /// Makes an appraiser for one app.
    ///
    /// - `account`: the account at the vendor that tokens are made for: a team. Apps of one account share its tokens,
    ///   and what is remembered about them.
    /// - Throws: `ConfigurationError` when the rules ask for bits that the vendor does not keep.
    public init(
        upstream: any DeviceTokenUpstream, account: String, rules: DeviceTokenRules, reasons: DeviceTokenReasons,
        host: PluginHost
    ) throws(ConfigurationError) {
        guard rules.refuseWhen == nil || upstream.keepsBits else {
            throw ConfigurationError(at: ["refuse_when"], "the upstream keeps no bits of devices")
        }
        used = OneTimeUse(
            of: .untimed, in: host.space.subspace("tokens").subspace(account).subspace("\(upstream.server)"))
        self.upstream = upstream
        self.rules = rules
        self.reasons = reasons
        randomness = host.randomness
        clock = host.clock
        inquiry = UpstreamInquiry(of: upstream.server, host: host, limited: reasons.limited)
    }

    /// That the vendor accepts no credential, for the provider's own `problem`; nil if it does.
    public var problem: String? { inquiry.problem }

    /// Whether a token is genuine, new, and of a device that the policy does not refuse.
    ///
    /// - Throws: `CallFailure` with `UNAVAILABLE` and a time to come back at when the vendor did not decide, with
    ///   `RESOURCE_EXHAUSTED` when the vendor refused many tokens of the peer; what the state store throws.
    public func appraise(_ deviceToken: String, _ context: ProviderContext) async throws -> Verdict {
        guard let token = upstream.canonical(deviceToken) else { return .refused(reasons.malformed) }
        let name = Hex.encode(SHA256.hash(Array(token.utf8)))
        if inquiry.hasRefused(name) {
            return .refused(reasons.refused, detail: "the upstream refused it before")
        }
        let use = rules.memory.map { OneTimeThing(name, untimedUntil: context.now + $0) }
        if let use, try await used.isUsed(use) { return .refused(reasons.reused) }
        // One question answers both, and a token may be usable for one only.
        let bits: DeviceBits?
        switch try await ask(rules.refuseWhen == nil ? .validate : .query, token, name, context) {
        case .refused(let detail): return .refused(reasons.refused, detail: detail)
        case .genuine(let found): bits = found
        }
        if let bits, let rule = rules.refuseWhen?.bits, rule.matches(bits) {
            return .refused(reasons.bits, detail: "\(bits.all), and the policy refuses \(rule)")
        }
        // Only a valid token is remembered, so that a client may send one again that could not be judged. Of two
        // concurrent ones, one is first.
        if let use, try await used.use(use) != .first {
            return .refused(reasons.reused)
        }
        return .verified(Appraisal(facts: bits.map(Self.facts) ?? []))
    }

    /// The bits of a token's device, with the facts for the record.
    ///
    /// The token cannot be used for an exchange then.
    ///
    /// - Throws: `InvalidRequest` when it is not a token; `CallFailure` when the vendor refused it, did not decide, or keeps no bits.
    public func read(_ deviceToken: String, _ context: ProviderContext) async throws
        -> (bits: DeviceBits?, facts: [Fact])
    {
        let bits = try await askForCaller(.query, deviceToken, context)
        return (bits, bits.map(Self.facts) ?? [])
    }

    /// Sets those bits of a token's device that are named, and returns what was set, for the record.
    ///
    /// The token cannot be used for an exchange then.
    ///
    /// - Throws: as ``read(_:_:)``.
    public func update(_ deviceToken: String, to change: SomeDeviceBits, _ context: ProviderContext) async throws
        -> [Fact]
    {
        let (bit0, bit1) = (change.values.first ?? nil, change.values.dropFirst().first ?? nil)
        _ = try await askForCaller(.update(bit0: bit0, bit1: bit1), deviceToken, context)
        return change.facts([.deviceBit0, .deviceBit1])
    }

    /// Asks for a caller who has a permission, and remembers the token as used.
    private func askForCaller(
        _ kind: DeviceQuestion.Kind, _ deviceToken: String, _ context: ProviderContext
    ) async throws -> DeviceBits? {
        guard upstream.keepsBits else {
            throw CallFailure(.failedPrecondition, "The vendor keeps no bits of devices.")
        }
        guard let token = upstream.canonical(deviceToken) else {
            throw InvalidRequest("the field 'deviceToken' is not a device token")
        }
        let name = Hex.encode(SHA256.hash(Array(token.utf8)))
        let bits: DeviceBits?
        switch try await ask(kind, token, name, context) {
        case .refused(let detail): throw reasons.refusedAnswer(detail)
        case .genuine(let found): bits = found
        }
        if let memory = rules.memory {
            _ = try await used.use(OneTimeThing(name, untimedUntil: context.now + memory))
        }
        return bits
    }

    private func ask(
        _ kind: DeviceQuestion.Kind, _ token: String, _ name: String, _ context: ProviderContext
    ) async throws(CallFailure) -> UpstreamVerdict<DeviceBits?> {
        let question = DeviceQuestion(kind, token, randomness: randomness)
        return try await inquiry.ask(about: name, context, hiding: [token]) { [upstream, clock] refused in
            try await upstream.credential(at: clock.now, insteadOf: refused)
        } request: { [upstream, clock] credential in
            try upstream.request(question, credential: credential, at: clock.now)
        } read: { [upstream] response in
            let verdict = try upstream.read(response, to: question)
            if case .genuine(nil) = verdict, kind == .query { throw UpstreamFailure(.malformed, "no bits") }
            return verdict
        }
    }

    private static func facts(_ bits: DeviceBits) -> [Fact] {
        var facts = bits.all.facts([.deviceBit0, .deviceBit1])
        if let month = bits.lastUpdate { facts.append(Fact(.deviceBitsUpdated, cutting: month)) }
        return facts
    }
}

extension FactName {
    /// Bit 0 of the device.
    public static let deviceBit0 = FactName("device_bit0", .bool)
    /// Bit 1 of the device.
    public static let deviceBit1 = FactName("device_bit1", .bool)
    /// The month in which the bits were set last, `YYYY-MM`; absent when they never were.
    public static let deviceBitsUpdated: FactName = "device_bits_updated"
}
