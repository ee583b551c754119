internal import AssayAndroid
public import AssayCore
internal import AssayCrypto
public import AssayKit
internal import AssayRequestProof
internal import Logging

/// A key that an Android device made in its hardware for one app, by the word of the device's maker and of Google.
///
/// A client attests its key once and gets an artifact, which carries the key and what was attested of the device; from then on it signs
/// assertions with the key and sends the artifact along. The server keeps the key's counter, and how many keys an attester has made.
public struct AndroidKeyProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons and facts.
    public static let descriptor = PluginDescriptor.provider(
        name: "android_key", version: AssayVersion.text,
        summary: "A key in the hardware of an Android device, made by the app.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                The request comes from a device with secure hardware that made the key, with the system of its maker or another one that \
                the policy lists, and from the app with one of its signers, as this system says. It does not prove that the system \
                has no flaw that an attacker uses, or that the evidence was not passed on from another device.
                """,
            trusts: [
                "Google's authorities of devices, or the roots that the policy names instead",
                "the makers of devices, in whose factories the keys of older ones were made",
                "the secure hardware of the device, and its boot loader",
                "the system of the device, which names the app",
                "the list of revoked certificates, and the connection over which it comes",
                "the state store, which keeps the counter of each key",
                "the sealing key of this service, which protects artifacts",
            ]),
        reasons: AndroidKeyReasons.all, facts: AndroidKeyFacts.all,
        // The certificates, in Base 64, with the challenge.
        limits: PluginLimits(
            evidence: AndroidChain.byteLimit * 4 / 3 + 1024, concurrentCalls: 10_000, outboundCalls: 1, storeWrites: 4,
            reply: 8192),
        execution: .shared, platforms: [AndroidIdentity.self])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<AndroidKeyProvider>] = ProviderMethod.attestedKey(
        "AndroidKey", challenge: { (request: KeyAttestationRequest) in request.challenge }
    ) { provider, request, context in
        try await provider.appraise(request, context)
    } assertion: { provider, request, context in
        try await provider.appraise(request, context)
    }

    private let rules: AndroidKeyRules
    private let verifier: AndroidKeyVerifier
    /// SHA-256 of the keys of the roots that are trusted.
    private let roots: Set<[UInt8]>
    private let watch: RevocationWatch
    private let staleAfter: Duration
    private let acceptsStale: Bool
    private let namesKey: Bool
    private let clock: HostClock
    /// Settings without effect.
    public let warnings: [ConfigurationWarning]

    private static let maintenanceInterval = Duration.seconds(60)
    private static let attesterMemory = Duration.seconds(30 * 86_400)
    private static let attesterLimit = 100

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(_ configuration: AndroidKeyConfiguration, app: AppIdentity, host: PluginHost) throws(ConfigurationError)
    {
        let identity = try AndroidIdentity.of(app, neededBy: "Android key attestation")
        rules = try AndroidKeyRules(configuration, identity)
        verifier = try configuration.verifier()
        roots = verifier.rootKeys
        watch = RevocationWatch.of(try configuration.source(), host: host)
        staleAfter = configuration.revocation?.staleAfter ?? RevocationConfiguration.standardAge
        acceptsStale = configuration.revocation?.stale == .accept
        namesKey = configuration.keyInTokens ?? false
        clock = host.clock
        warnings =
            Self.warnings(of: try configuration.source())
            + (configuration.bootKeys != nil && configuration.verifiedBoot != .selfSigned
                ? [ConfigurationWarning(at: ["boot_keys"], "has no effect without `verified_boot: self_signed`")] : [])
        if !configuration.roots.isNil {
            host.logger.warning(
                "Android keys are accepted under roots that are not Google's, according to the policy",
                metadata: ["app": "\(app.resource)"])
        }
    }

    /// Fetches the list of revoked certificates.
    public var maintenance: Maintenance? {
        Maintenance(every: Self.maintenanceInterval) { [watch] context in try await watch.refresh(context) }
    }

    /// That there is no list of revoked certificates, that it cannot be renewed, or that it is too old.
    public var problem: String? { watch.problem(at: clock.now, staleAfter: staleAfter) }

    /// A list in a file that cannot be used.
    private static func warnings(of source: RevocationWatch.Source) -> [ConfigurationWarning] {
        guard case .file(let path) = source else { return [] }
        do {
            _ = try RevocationFile.read(path, unlessAs: nil)
            return []
        } catch {
            return [ConfigurationWarning(at: ["revocation", "list"], "\(error); nothing is decided without a list")]
        }
    }

    /// Verifies the certificates of a new key, and seals the key into an artifact.
    func appraise(_ request: KeyAttestationRequest, _ context: ProviderContext) async throws -> Verdict {
        var facts: [Fact] = []
        do {
            let chain = try verifier.read(request.chain)
            facts = AndroidKeyFacts.of(chain)
            let device = try rules.judge(chain, challenge: request.challenge)
            facts = self.facts(of: device, at: context.now) + AndroidKeyFacts.beside(chain)
            try rules.judge(device, at: context.now)
            let root = try verifier.verify(chain, at: context.now)
            facts.append(try await checkRevocation(of: device, context))
            guard chain.leaf.key.kind == .ec(.p256) else {
                throw AndroidKeyRefusal(
                    AndroidKeyReasons.keyKind, chain.leaf.key.kind.map { "\($0)" } ?? "\(chain.leaf.key.algorithm)")
            }
            let artifact = AndroidKeyArtifact(
                publicKey: Array(chain.leaf.key.bytes), attested: context.now,
                root: SHA256.hash(Array(root.certificate.key.bytes)), device: device)
            facts += AndroidKeyFacts.of(artifact.publicKey, attested: context.now, at: context.now)
            facts.append(
                Fact(AndroidKeyFacts.attesterKeys, .integer(try await countKeys(of: chain, artifact.keyID, context))))
            return .verified(
                Appraisal(
                    facts: facts, reply: [.bytes("artifact", try context.sealer.seal(artifact.encoded))],
                    confirmation: confirmation(artifact.publicKey)))
        } catch let refusal as AndroidKeyRefusal {
            return .refused(refusal.reason, detail: refusal.detail, facts: facts)
        }
    }

    /// Verifies an assertion with the key in the artifact, and raises the key's counter.
    func appraise(_ request: KeyAssertionRequest, _ context: ProviderContext) async throws -> Verdict {
        guard let artifact = context.sealer.open(request.artifact).flatMap(AndroidKeyArtifact.init(encoded:)) else {
            return .refused(AndroidKeyReasons.artifactInvalid)
        }
        var facts =
            AndroidKeyFacts.of(artifact.publicKey, attested: artifact.attested, at: context.now)
            + self.facts(of: artifact.device, at: context.now)
        do {
            guard roots.contains(artifact.root) else {
                throw AndroidKeyRefusal(
                    AndroidKeyReasons.artifactRootUntrusted, "the root's key is \(Hex.encode(artifact.root))")
            }
            guard let assertion = DeviceAssertion(request.assertion) else {
                throw AndroidKeyRefusal(AndroidKeyReasons.assertionMalformed)
            }
            guard assertion.relyingPartyHash == rules.relyingPartyHash else {
                throw AndroidKeyRefusal(
                    AndroidKeyReasons.assertionOtherApp,
                    "made for \(Hex.encode(assertion.relyingPartyHash)), expected \(Hex.encode(rules.relyingPartyHash))"
                )
            }
            try rules.judge(artifact.device, at: context.now)
            guard
                assertion.isSigned(by: artifact.publicKey, over: SHA256.hash(request.artifact, request.challenge))
            else { throw AndroidKeyRefusal(AndroidKeyReasons.assertionSignature) }
            facts.append(try await checkRevocation(of: artifact.device, context))
            return .verified(
                Appraisal(
                    facts: facts, confirmation: confirmation(artifact.publicKey),
                    uses: [
                        .counter(
                            assertion.counter, ofKey: artifact.keyID, in: context.appState,
                            otherwise: AndroidKeyReasons.counterUsed)
                    ]))
        } catch let refusal as AndroidKeyRefusal {
            return .refused(refusal.reason, detail: refusal.detail, facts: facts)
        }
    }

    /// Looks the certificates of a device up in the list of revoked ones.
    ///
    /// - Throws: ``AndroidKeyRefusal``; `CallFailure` with `UNAVAILABLE` where there is no list, or one that is too old.
    private func checkRevocation(of device: AttestedDevice, _ context: ProviderContext) async throws -> Fact {
        let current = try await watch.current(context)
        let age = max(.zero, context.now - current.head.confirmed)
        guard age <= staleAfter || acceptsStale else {
            throw CallFailure(
                .unavailable, "The list of revoked devices is too old.",
                detail: "it is \(age.wholeSeconds) s old, and the policy demands at most \(staleAfter.wholeSeconds) s",
                retryAfter: .seconds(60))
        }
        if let status = current.list.status(of: device.revocationNames) {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.revoked, "\(status.word) in the list of \(current.head.confirmed)")
        }
        return Fact(AndroidKeyFacts.revocationAge, .duration(AndroidKeyFacts.whole(age)))
    }

    /// How many keys the device's certificate has attested lately, with this one.
    private func countKeys(of chain: AndroidChain, _ keyID: [UInt8], _ context: ProviderContext) async throws -> Int64 {
        guard let attester = chain.path.dropFirst().first else { return 1 }
        let space = context.pluginState.subspace("attesters").subspace(Hex.encode(SHA256.hash(Array(attester.encoded))))
        _ = try await space.insert(Hex.encode(keyID), expires: context.now + Self.attesterMemory)
        return Int64(try await space.list(limit: Self.attesterLimit).count)
    }

    private func facts(of device: AttestedDevice, at now: Instant) -> [Fact] {
        AndroidKeyFacts.of(device, bootKeyName: rules.name(ofBootKey: device.bootKey), at: now)
    }

    private func confirmation(_ publicKey: [UInt8]) -> ConfirmationKey? {
        namesKey ? ConfirmationKey(publicKey: publicKey, relyingPartyHash: rules.relyingPartyHash) : nil
    }
}

/// What a client sends to have its key's certificates verified.
struct KeyAttestationRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("attestationChain", .list(.bytes, atMost: AndroidChain.lengths.upperBound)),
        .required("challenge", .bytes),
    ]

    /// Each certificate in DER, the key's own first.
    let chain: [[UInt8]]
    let challenge: [UInt8]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        chain = try fields.bytesList("attestationChain", atMost: AndroidChain.lengths.upperBound)
        challenge = try fields.bytes("challenge")
    }
}
