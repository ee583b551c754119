internal import AppleServices
internal import AssayCrypto
public import AssayKit

/// Apple's DeviceCheck: a token that a device makes for an app's team, and that Apple alone can judge.
///
/// A device token is exchanged once, unless the policy says otherwise. Two bits that the team keeps of a device may be
/// part of the decision; servers with the permission `deviceCheck.updateBits` set them.
public struct DeviceCheckProvider: AttestationProvider {
    public static let descriptor = PluginDescriptor(
        name: "device_check", contract: 1, summary: "Device tokens that Apple's DeviceCheck validates.",
        reasons: DeviceCheckReasons.all, facts: [.deviceBit0, .deviceBit1, .deviceBitsUpdated],
        metrics: DeviceCheckMetrics.all, evidenceLimit: 16 * 1024)

    /// To set the two bits of devices.
    public static let updateBits = Permission("deviceCheck.updateBits")

    public static let methods: [ProviderMethod<DeviceCheckProvider>] = [
        .exchange("exchangeDeviceCheckToken") { provider, request, context in
            try await provider.appraise(request, context)
        },
        .call("updateDeviceCheckBits", MethodPath(.post, ":updateDeviceCheckBits"), permission: updateBits) {
            provider, request, context in try await provider.update(request, context)
        },
        .config("deviceCheckConfig") { provider in
            [ReplyField("keyId", .string(provider.keyID)), ReplyField("privateKeySet", .bool(true))]
        },
    ]

    private let keyID: String
    private let upstream: any DeviceTokenUpstream
    private let check: DeviceTokenCheck
    private let refused: DeviceCheckConfiguration.Bits?
    /// Nil where tokens may be used again.
    private let memory: Duration?

    public init(_ configuration: DeviceCheckConfiguration, app: AppIdentity, host: Host) throws(ConfigurationError) {
        guard let apple = app.apple else {
            throw ConfigurationError("DeviceCheck needs the app's `apple` section with `team_id` and `bundle_id`")
        }
        let standard =
            configuration.environment == .development
            ? "https://api.development.devicecheck.apple.com" : "https://api.devicecheck.apple.com"
        guard let base = configuration.baseURL ?? EndpointURL(standard), base.appending("/v1") != nil else {
            throw ConfigurationError(at: ["base_url"], "expected a URL without a query")
        }
        let key = try AppleServerKey.named(
            configuration.keyID, teamID: apple.teamID, privateKey: configuration.privateKey, secrets: host.secrets)
        try self.init(
            configuration,
            upstream: AppleDeviceCheck(base: base, key: key, form: configuration.authorization ?? .bearer),
            gate: .to(base, host: host), host: host)
    }

    /// The same with any vendor's upstream.
    init(
        _ configuration: DeviceCheckConfiguration, upstream: any DeviceTokenUpstream, gate: UpstreamGate, host: Host
    ) throws(ConfigurationError) {
        if let bits = configuration.refuseWhen, bits.bit0 == nil, bits.bit1 == nil {
            throw ConfigurationError(at: ["refuse_when"], "expected `bit0` or `bit1`: every device is refused else")
        }
        let memory = configuration.rememberFor ?? .seconds(86_400)
        guard memory >= .seconds(60), memory <= .seconds(30 * 86_400) else {
            throw ConfigurationError(at: ["remember_for"], "expected 1m to 30d")
        }
        keyID = configuration.keyID
        self.upstream = upstream
        self.memory = configuration.allowReuse == true ? nil : memory
        refused = configuration.refuseWhen
        check = DeviceTokenCheck(
            upstream: upstream, gate: gate, http: host.http, clock: host.clock, randomness: host.randomness,
            meter: host.meter)
    }

    func appraise(_ request: ExchangeDeviceCheckTokenRequest, _ context: Context) async throws -> Verdict {
        guard let token = upstream.canonical(request.deviceToken) else {
            return .refused(DeviceCheckReasons.malformed)
        }
        let name = "token.\(Hex.encode(SHA256.hash(Array(token.utf8))))"
        if memory != nil, try await context.state.get(name) != nil { return .refused(DeviceCheckReasons.reused) }
        // One question tells both, and a token may be good for one only.
        let kind: DeviceQuestion.Kind = refused == nil ? .validate : .query
        let bits: DeviceBits?
        switch await check.ask(
            DeviceQuestion(kind, token, randomness: check.randomness), deadline: context.deadline)
        {
        case .refused(let reason, let detail): return .refused(reason, detail: detail)
        case .undecided(let failure): throw Self.unavailable(failure)
        case .genuine(let found): bits = found
        }
        if let refused {
            guard let bits else { throw Self.unavailable(UpstreamFailure(.malformed, "no bits")) }
            if refused.fits(bits) { return .refused(DeviceCheckReasons.bits) }
        }
        // Only a good token is remembered, so that a client may come back with one that could not be judged. Of two at
        // once, one is first.
        if let memory, try await !context.state.insert(name, expires: context.now + memory) {
            return .refused(DeviceCheckReasons.reused)
        }
        return .verified(Appraisal(facts: bits.map(Self.facts) ?? []))
    }

    func update(_ request: UpdateDeviceCheckBitsRequest, _ context: Context) async throws -> JSON {
        guard let token = upstream.canonical(request.deviceToken) else {
            throw InvalidRequest("the field 'deviceToken' is no device token")
        }
        let question = DeviceQuestion(
            .update(bit0: request.bit0, bit1: request.bit1), token, randomness: check.randomness)
        switch await check.ask(question, deadline: context.deadline) {
        case .genuine: return [:]
        case .refused(let reason, let detail):
            throw CallFailure(
                .invalidArgument, "The device token was not accepted.", reason: reason, detail: detail)
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

extension DeviceCheckConfiguration.Bits {
    func fits(_ bits: DeviceBits) -> Bool {
        (bit0 ?? bits.bit0) == bits.bit0 && (bit1 ?? bits.bit1) == bits.bit1
    }
}

extension FactName {
    public static let deviceBit0: FactName = "device_bit0"
    public static let deviceBit1: FactName = "device_bit1"
    /// The month in which the bits were set last.
    public static let deviceBitsUpdated: FactName = "device_bits_updated"
}
