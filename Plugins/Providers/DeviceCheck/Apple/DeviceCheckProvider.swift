internal import AssayAppleServices
public import AssayKit

/// Apple's DeviceCheck: a token that a device makes for an app's team, and that Apple alone can judge.
///
/// A device token is exchanged once, unless the policy says otherwise. It says that a device runs some app of the team, not
/// which one: so it is good for one app of all that the team has here, whichever client comes first. Two bits that the team
/// keeps of a device may be part of the decision; servers with the permission `deviceCheck.updateBits` set them.
public struct DeviceCheckProvider: AttestationProvider {
    /// Why it refuses.
    public static let reasons = DeviceTokenReasons(prefix: "device_token")

    public static let descriptor = PluginDescriptor(
        name: "device_check", contract: 1, summary: "Device tokens that Apple's DeviceCheck validates.",
        reasons: reasons.all, facts: DeviceTokenAppraiser.facts, metrics: DeviceTokenAppraiser.metrics,
        evidenceLimit: 16 * 1024)

    /// To set the two bits of devices.
    public static let updateBits = Permission("deviceCheck.updateBits")

    public static let methods: [ProviderMethod<DeviceCheckProvider>] = [
        .exchange("exchangeDeviceCheckToken") { (provider, request: ExchangeDeviceCheckTokenRequest, context) in
            try await provider.appraiser.appraise(request.deviceToken, context)
        },
        .call(
            "updateDeviceCheckBits", MethodPath(.post, ":updateDeviceCheckBits"), permission: updateBits, reply: []
        ) { (provider, request: UpdateDeviceCheckBitsRequest, context) -> CallAnswer in
            let facts = try await provider.appraiser.update(
                request.deviceToken, bit0: request.bit0, bit1: request.bit1, context)
            return CallAnswer([:], facts: facts)
        },
        .config("deviceCheckConfig") { provider in
            [ReplyField("keyId", .string(provider.keyID)), ReplyField("privateKeySet", .bool(true))]
        },
    ]

    private let keyID: String
    private let appraiser: DeviceTokenAppraiser

    public init(_ configuration: DeviceCheckConfiguration, app: AppIdentity, host: PluginHost)
        throws(ConfigurationError)
    {
        guard let apple = app.apple else {
            throw ConfigurationError("DeviceCheck needs the app's `apple` section with `team_id` and `bundle_id`")
        }
        let standard = (configuration.environment ?? .production).server
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
}
