internal import AssayApple
public import AssayCore
public import AssayKit

/// Apple's DeviceCheck: a token that a device makes for an app's team, and that Apple alone can judge.
///
/// A device token is exchanged once, unless the policy says otherwise. It says that a device runs some app of the team,
/// not which one: so it can be used for one of the team's apps here, whichever client comes first. Two bits that
/// the team keeps of a device may be part of the decision; servers with a permission read and set them.
public struct DeviceCheckProvider: DeviceBitsProvider {
    /// Why it refuses.
    public static let reasons = DeviceTokenReasons(prefix: "device_token")

    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "device_check", version: AssayVersion.text,
        summary: "Device tokens that Apple's DeviceCheck validates.", stability: .stable,
        posture: SecurityPosture(
            proves: """
                Apple made the device token on a genuine Apple device, for an app of the team. It does not prove which app of the \
                team asked for it, that the app is unmodified, or that the token is of the client that sends it.
                """,
            trusts: [
                "Apple's DeviceCheck server, and the authorities of its certificate",
                "whoever holds the team's DeviceCheck key",
                "all apps of the team, each of which can get device tokens",
                "the state store, which remembers used device tokens",
            ]),
        reasons: reasons.all, facts: DeviceTokenAppraiser.facts, metrics: DeviceTokenAppraiser.metrics,
        limits: PluginLimits(
            evidence: 16 * 1024, concurrentCalls: 10_000, outboundCalls: UpstreamInquiry.callsPerQuestion,
            storeWrites: 2, reply: 4096),
        execution: .shared, platforms: [AppleIdentity.self], answers: reasons.answers)

    /// What methods and permissions for the bits of devices are named by.
    public static let bitsName = "DeviceCheck"
    /// Apple keeps two bits.
    public static let bitCount = 2

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<DeviceCheckProvider>] =
        [
            .exchange("exchangeDeviceCheckToken") { (provider, request: ExchangeDeviceCheckTokenRequest, context) in
                try await provider.appraiser.appraise(request.deviceToken, context)
            },
            .config("deviceCheckConfig") { provider in
                [ReplyField("keyId", .string(provider.keyID)), ReplyField("privateKeySet", .bool(true))]
            },
        ] + bitMethods

    private let keyID: String
    private let appraiser: DeviceTokenAppraiser

    /// That Apple does not accept the key.
    public var problem: String? { appraiser.problem }

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(_ configuration: DeviceCheckConfiguration, app: AppIdentity, host: PluginHost)
        throws(ConfigurationError)
    {
        let apple = try AppleIdentity.of(app, neededBy: "DeviceCheck")
        let ofStage = app.project.stage == .development ? DeviceCheckConfiguration.Environment.development : .production
        let standard = (configuration.environment ?? ofStage).server
        guard let server = configuration.baseURL ?? EndpointURL(standard), server.appending("/v1") != nil else {
            throw ConfigurationError(at: ["base_url"], "expected a URL without a query")
        }
        let key = try AppleServerKey.named(
            configuration.keyID, teamID: apple.teamID, privateKey: configuration.privateKey, secrets: host.secrets)
        let rules = try DeviceTokenRules(
            refuseWhen: configuration.refuseWhen, allowReuse: configuration.allowReuse,
            rememberFor: configuration.rememberFor)
        keyID = configuration.keyID
        appraiser = try DeviceTokenAppraiser(
            upstream: AppleDeviceCheck(server: server, key: key, form: configuration.authorization ?? .bearer),
            account: apple.teamID, rules: rules, reasons: Self.reasons, host: host)
    }

    /// Asks Apple for the bits of a token's device.
    public func readBits(of deviceToken: String, _ context: ProviderContext) async throws
        -> (bits: DeviceBits?, facts: [Fact])
    {
        try await appraiser.read(deviceToken, context)
    }

    /// Has Apple set bits of a token's device.
    public func updateBits(of deviceToken: String, to change: SomeDeviceBits, _ context: ProviderContext) async throws
        -> [Fact]
    {
        try await appraiser.update(deviceToken, to: change, context)
    }
}

/// What a client sends to exchange a device token.
struct ExchangeDeviceCheckTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("deviceToken", .text)]

    let deviceToken: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        deviceToken = try fields.string("deviceToken")
    }
}
