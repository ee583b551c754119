internal import AssayAndroid
public import AssayCore
internal import AssayCrypto
public import AssayKit

/// Google Play's word for an app, the device and the user, in a token that the app asked for.
///
/// A token is made for one challenge, which is its nonce or its request hash. Classic tokens are opened here, with the app's own keys, or
/// by Google; standard ones by Google alone.
public struct PlayIntegrityProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "play_integrity", version: AssayVersion.text,
        summary: "Tokens of Google's Play Integrity.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                Google Play made the token for the package, and recognised the app unless the policy says otherwise, on a device with the \
                labels that the policy demands. It does not prove that the system has no flaw that an attacker uses, or that \
                the token was not passed on from another device.
                """,
            trusts: [
                "Google Play, on the device and at Google's servers",
                "everybody who has the app's response keys, for classic tokens that are opened here; no token can be made with them",
                "Google's servers and the authorities of their certificates, for all other tokens, and everybody who has the service account's key",
                "the secure hardware and the system of the device, as far as its labels rely on them",
                "the state store, which remembers used challenges",
            ]),
        reasons: PlayIntegrityReasons.all, facts: PlayIntegrityFacts.all, metrics: UpstreamInquiry.metrics,
        limits: PluginLimits(
            evidence: tokenLimit, concurrentCalls: 10_000, outboundCalls: PlayDecoder.callsPerToken, storeWrites: 1,
            reply: 4096),
        execution: .shared, platforms: [AndroidIdentity.self],
        answers: [UpstreamInquiry.limitedAnswer(PlayIntegrityReasons.limited), bitsRefused()])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<PlayIntegrityProvider>] =
        [
            // Play demands a nonce in the URL-safe alphabet, of 16 to 500 characters.
            .challenge("generatePlayIntegrityChallenge", text: .base64URL),
            .exchange("exchangePlayIntegrityToken", findsChallenge: true) {
                (provider, request: PlayTokenRequest, context) in
                try await provider.appraise(request.token, context)
            },
            .config("playIntegrityConfig") { provider in provider.settings },
        ] + bitMethods

    /// The most bytes of a token.
    static let tokenLimit = 64 * 1024

    let rules: PlayIntegrityRules
    private let keys: PlayResponseKeys?
    let decoder: PlayDecoder?
    /// Whether callers may read and set the bits of devices.
    let allowsBits: Bool
    /// Settings under which any app passes.
    public let warnings: [ConfigurationWarning]

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: PlayIntegrityConfiguration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        let identity = try AndroidIdentity.of(app, neededBy: "Play Integrity")
        guard configuration.responseKeys != nil || configuration.serviceAccount != nil else {
            throw ConfigurationError(
                "expected `response_keys`, `service_account`, or both: otherwise no token can be opened")
        }
        rules = try PlayIntegrityRules(configuration, identity, stage: app.project.stage)
        keys =
            if let pairs = configuration.responseKeys { try PlayResponseKeys(pairs, host.secrets) } else { nil }
        decoder =
            if let account = configuration.serviceAccount {
                try PlayDecoder(account, configuration, package: identity.package, host: host)
            } else { nil }
        allowsBits = configuration.deviceRecall != nil
        warnings =
            rules.allowsUnrecognized && rules.level == .none
            ? [
                ConfigurationWarning(
                    at: ["allow_unrecognized_version"],
                    "any app on any device passes without `min_device_level`: Google does not look at apps on devices that it does not trust"
                )
            ] : []
    }

    /// That Google does not accept the service account: `/readyz` says so.
    public var problem: String? { decoder?.problem }

    private var settings: [ReplyField] {
        [
            ReplyField("appIntegrity", ["allowUnrecognizedVersion": .bool(rules.allowsUnrecognized)]),
            ReplyField("deviceIntegrity", ["minDeviceRecognitionLevel": .string(rules.level.googleName)]),
            ReplyField("accountDetails", ["requireLicensed": .bool(rules.requiresLicence)]),
        ]
    }

    /// Opens a token, and judges what it says.
    func appraise(_ token: String, _ context: ProviderContext) async throws -> Verdict {
        var facts: [Fact] = []
        do {
            let opened = try await open(token, context)
            let verdict = try PlayVerdict(opened.payload)
            facts = PlayIntegrityFacts.of(verdict, isOpenedHere: opened.isOpenedHere, at: context.now)
            let challenge = try rules.judge(verdict, isClassic: opened.isClassic, at: context.now)
            return .verified(Appraisal(facts: facts, challenge: challenge))
        } catch let refusal as PlayRefusal {
            return .refused(refusal.reason, detail: refusal.detail, facts: facts)
        }
    }

    /// What a token holds, of which kind it is, and whether it was opened here.
    ///
    /// - Throws: ``PlayRefusal``; `CallFailure` when Google did not say.
    func open(
        _ token: String, _ context: ProviderContext
    ) async throws -> (payload: JSON, isClassic: Bool, isOpenedHere: Bool) {
        let classic = try Self.read(token)
        if let classic, let keys { return (try keys.open(classic), true, true) }
        guard let decoder else { throw PlayRefusal(PlayIntegrityReasons.needsGoogle) }
        return (try await decoder.decode(token, context), classic != nil, false)
    }

    /// The parts of a classic token; nil for a standard one, Google's own form, of which only the alphabet is known.
    static func read(_ token: String) throws(PlayRefusal) -> KeyWrappedJWE? {
        let bytes = Array(token.utf8)
        if bytes.contains(UInt8(ascii: ".")) { return try PlayResponseKeys.read(bytes) }
        guard bytes.count >= 64, bytes.count <= tokenLimit, bytes.allSatisfy(isOfStandardToken) else {
            throw PlayRefusal(PlayIntegrityReasons.tokenMalformed, "neither five parts nor unpadded base64url")
        }
        return nil
    }

    private static func isOfStandardToken(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "=")
    }
}

/// What a client sends to exchange a token of Play Integrity.
struct PlayTokenRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("playIntegrityToken", .textOfLength(1...PlayIntegrityProvider.tokenLimit))
    ]

    let token: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        token = try fields.string("playIntegrityToken")
    }
}
