internal import AssayApple
public import AssayCore
internal import AssayCrypto
public import AssayKit
internal import Logging

/// Apple's App Attest: a key in the device's Secure Enclave that Apple certifies for one app.
///
/// A client attests its key once and gets an artifact, which carries the key; from then on it signs assertions with the
/// key and sends the artifact along. Nothing of the attestation is stored but the key's counter, and its receipt where
/// the policy asks for risk metrics.
public struct AppAttestProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "app_attest", version: AssayVersion.text,
        summary: "Apple's App Attest on iOS, iPadOS and macOS.", stability: .stable,
        posture: SecurityPosture(
            proves: """
                The request comes from an unmodified build of the app, signed for its team, with a key that the Secure \
                Enclave of a genuine Apple device holds. It does not prove that the device is not jailbroken, or who uses it.
                """,
            trusts: [
                "Apple's App Attest authority, or the trust anchor that the policy names instead",
                "the Secure Enclave and the system of the device, which keep the key and name the app",
                "the state store, which keeps the counter of each key",
                "the sealing key of this service, which protects artifacts",
            ]),
        reasons: AppAttestReasons.all, facts: AppAttestFacts.all,
        metrics: [UnknownMembers.passedOver],
        // An attestation with its challenge and key identifier. Receipts are exchanged between calls.
        limits: PluginLimits(
            evidence: AttestationVerifier.byteLimit + 1024, concurrentCalls: 10_000, outboundCalls: 0, storeWrites: 4,
            reply: 4096),
        execution: .shared, platforms: [AppleIdentity.self])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<AppAttestProvider>] = ProviderMethod.attestedKey(
        "AppAttest", challenge: { (request: AttestationRequest) in request.challenge }
    ) { provider, request, context in
        try await provider.appraise(request, context)
    } assertion: { provider, request, context in
        try await provider.appraise(request, context)
    }

    private let appID: AppAttestAppID
    private let rules: AppAttestRules
    private let verifier: AttestationVerifier
    /// SHA-256 of the key of the root that replaces Apple's; nil for Apple's.
    private let root: [UInt8]?
    /// What knows risk metrics; nil where the policy does not ask for them.
    private let risk: RiskMetricWatch?
    /// Whether tokens name the attested key.
    private let namesKey: Bool
    private let meter: Meter

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(_ configuration: AppAttestConfiguration, app: AppIdentity, host: PluginHost) throws(ConfigurationError)
    {
        let apple = try AppleIdentity.of(app, neededBy: "App Attest")
        do throws(AppAttestAppID.Fault) {
            appID = try AppAttestAppID(apple)
        } catch {
            throw ConfigurationError("`\(apple.appID)` is not an App ID that App Attest can confirm: \(error)")
        }
        rules = try AppAttestRules(configuration, stage: app.project.stage)
        verifier = try configuration.verifier()
        root = try configuration.root()
        namesKey = configuration.keyInTokens ?? false
        meter = host.meter
        risk = try configuration.watch(team: apple.teamID, appID: appID, host: host)
        if !configuration.trustAnchor.isNil || !configuration.receiptTrustAnchor.isNil {
            host.logger.warning(
                "App Attest trusts a root that is not Apple's, according to the policy",
                metadata: ["app": "\(app.resource)"]
            )
        }
    }

    /// Exchanges receipts for newer ones; nil when the policy has no section `risk_metric`.
    public var maintenance: Maintenance? { risk?.maintenance }

    /// Verifies an attestation and seals its key into an artifact.
    func appraise(_ request: AttestationRequest, _ context: ProviderContext) async throws -> Verdict {
        // Whichever way it ends: a key identifier that comes again and again with refusals is the sign of a clone.
        let shown = AppAttestFacts.shown(keyID: request.keyID)
        let expectation = AttestationExpectation(
            appID: appID, keyID: request.keyID, clientDataHash: SHA256.hash(request.challenge),
            environments: rules.environments)
        let attestation: VerifiedAttestation
        switch verifier.verify(request.attestation, expecting: expectation, at: context.now) {
        case .refused(let refusal): return .refused(refusal.reason, detail: refusal.detail, facts: shown)
        case .verified(let verified): attestation = verified
        }
        attestation.unknownMembers.report(of: .attestation, meter, context.logger)
        if let reason = rules.judge(attestation.validationCategory) { return .refused(reason, facts: shown) }
        let metric = await risk?.remember(attestation, context)
        if let refusal = risk?.rules.judge(metric, attested: context.now, at: context.now) {
            return .refused(refusal.reason, detail: refusal.detail, facts: shown)
        }
        let artifact = AttestedKeyArtifact(
            publicKey: attestation.publicKey, environment: attestation.environment, attested: context.now, root: root)
        return .verified(
            Appraisal(
                facts: AppAttestFacts.of(attestation) + AppAttestFacts.of(metric, at: context.now),
                reply: [.bytes("artifact", try context.sealer.seal(artifact.encoded))],
                confirmation: confirmation(attestation.publicKey)))
    }

    /// Verifies an assertion with the key in the artifact, and raises the key's counter.
    func appraise(_ request: KeyAssertionRequest, _ context: ProviderContext) async throws -> Verdict {
        guard let artifact = context.sealer.open(request.artifact).flatMap(AttestedKeyArtifact.init(encoded:)) else {
            return .refused(AppAttestReasons.artifactInvalid)
        }
        let shown = AppAttestFacts.shown(keyID: artifact.keyID)
        guard artifact.root == root else { return .refused(AppAttestReasons.artifactRootUntrusted, facts: shown) }
        guard rules.environments.contains(artifact.environment) else {
            return .refused(AppAttestReasons.environmentNotAllowed, detail: artifact.environment.rawValue, facts: shown)
        }
        // The counter is compared with the stored one when the kernel raises it: both must be one step.
        let expectation = AssertionExpectation(
            appID: appID, clientDataHash: SHA256.hash(request.artifact, request.challenge), previousCounter: 0)
        let assertion: VerifiedAssertion
        switch AssertionVerifier().verify(request.assertion, publicKey: artifact.publicKey, expecting: expectation) {
        case .refused(let refusal): return .refused(refusal.reason, detail: refusal.detail, facts: shown)
        case .verified(let verified): assertion = verified
        }
        assertion.unknownMembers.report(of: .assertion, meter, context.logger)
        if let reason = rules.judge(assertion.validationCategory) { return .refused(reason, facts: shown) }
        let metric = try await risk?.metric(of: artifact.publicKey, context)
        if let refusal = risk?.rules.judge(metric, attested: artifact.attested, at: context.now) {
            return .refused(refusal.reason, detail: refusal.detail, facts: shown)
        }
        return .verified(
            Appraisal(
                facts: AppAttestFacts.of(assertion, artifact, at: context.now)
                    + AppAttestFacts.of(metric, at: context.now),
                confirmation: confirmation(artifact.publicKey),
                uses: uses(of: artifact.keyID, at: assertion.counter, context)))
    }

    private func confirmation(_ publicKey: [UInt8]) -> ConfirmationKey? {
        namesKey ? ConfirmationKey(publicKey: publicKey, relyingPartyHash: appID.digest) : nil
    }

    /// What raises a key's counter: it has one, whether the key speaks for the app or for an OAuth client that is linked to
    /// it.
    ///
    /// Up to version 0.2 an OAuth client had its own counters. They still count in addition to the app's, so that no
    /// used value is accepted again, neither after an update nor when a policy links the client to another app.
    private func uses(of keyID: [UInt8], at counter: UInt32, _ context: ProviderContext) -> [EvidenceUse] {
        let spaces = context.app.linkedApp.isNil ? [context.appState] : [context.state, context.appState]
        return spaces.map {
            .counter(counter, ofKey: keyID, in: $0, otherwise: AppAttestReasons.counterNotAdvanced)
        }
    }
}

/// What a client sends to have its key's attestation verified.
struct AttestationRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("attestationStatement", .bytes), .required("challenge", .bytes), .required("keyId", .bytes),
    ]

    /// The CBOR attestation object.
    let attestation: [UInt8]
    let challenge: [UInt8]
    /// The key identifier, decoded: 32 bytes in good requests.
    let keyID: [UInt8]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        attestation = try fields.bytes("attestationStatement")
        challenge = try fields.bytes("challenge")
        keyID = try fields.bytes("keyId")
    }
}
