public import AssayCore
internal import AssayCrypto
public import AssayKit

/// A key that an Android device made in its hardware, for our challenge and for the app of the policy.
///
/// The evidence is the chain of certificates of the key, which a maker's authority signed.
public struct AndroidKeyProvider: AttestationProvider {
    static let malformed = Reason(
        "android_key_malformed", "The certificates are malformed, or one of them is none.",
        advice: "Send the chain of the key store as it is: each certificate in DER, the leaf first.")
    static let untrusted = Reason(
        "android_key_untrusted", "No configured authority certifies the chain.",
        advice: "Compare the device's root with `roots`; the detail says which certificate is wrong.")
    static let challengeWrong = Reason(
        "android_key_challenge_wrong", "The key was made for another challenge.",
        advice: "Make the key with the challenge that the request has.")
    static let software = Reason(
        "android_key_software", "The key, or its attestation, is not from the device's hardware.",
        advice: "The device is an emulator, or too old.")
    static let appWrong = Reason(
        "android_key_app_wrong", "The key belongs to another app, or to one with another signer.",
        advice: "Compare `package` and `signing_certificates` with the detail.")
    static let unlocked = Reason(
        "android_key_device_unlocked", "The device's system is not the one that its maker signed.",
        advice: "The boot loader is unlocked, or the system was changed.")
    static let patchOld = Reason(
        "android_key_patch_level_old", "The device lacks security updates.",
        advice: "Ask for an update of the system, or lower `minimum_patch_level`.")

    static let levelFact = FactName("android_security_level", .words(["trusted_environment", "strong_box"]))
    static let patchFact = FactName("android_patch_level", .integer)

    /// The provider's name, reasons and facts.
    public static let descriptor = PluginDescriptor.provider(
        name: "android_key", version: "1.0.0",
        summary: "A key made in the hardware of an Android device, for this app.", stability: .experimental,
        posture: SecurityPosture(
            proves: "The caller holds a key in the hardware of a device with a system of its maker, made by this app.",
            trusts: ["the configured authorities", "the device's hardware and boot loader"]),
        reasons: [malformed, untrusted, challengeWrong, software, appWrong, unlocked, patchOld],
        facts: [levelFact, patchFact])

    /// A challenge, and the exchange.
    public static let methods: [ProviderMethod<AndroidKeyProvider>] = [
        .challenge("generateAndroidKeyChallenge"),
        .exchange("exchangeAndroidKey", challenge: { (request: AndroidKeyRequest) in request.challenge }) {
            (provider, request, context) in provider.appraise(request, context)
        },
    ]

    private let anchors: [TrustAnchor]
    private let package: [UInt8]
    private let signers: [[UInt8]]
    private let minimumPatchLevel: Int?

    /// Reads the certificates of the authorities.
    public init(
        _ configuration: AndroidKeyConfiguration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        var anchors: [TrustAnchor] = []
        for (index, reference) in configuration.roots.enumerated() {
            let path: [ConfigurationError.Component] = ["roots", .index(index)]
            problems.attempt { () throws(ConfigurationError) in
                anchors += try Self.anchors(reference, at: path, host)
            }
        }
        if configuration.roots.isEmpty { problems.report(at: ["roots"], "expected at least one authority") }
        var signers: [[UInt8]] = []
        for (index, text) in configuration.signers.enumerated() {
            if let digest = Hex.decode(text), digest.count == SHA256.byteCount {
                signers.append(digest)
            } else {
                problems.report(
                    at: ["signing_certificates", .index(index)], "expected the 64 hexadecimal digits of a SHA-256")
            }
        }
        if configuration.signers.isEmpty {
            problems.report(at: ["signing_certificates"], "expected at least one certificate")
        }
        if configuration.package.isEmpty { problems.report(at: ["package"], "expected the name of a package") }
        if let level = configuration.minimumPatchLevel, !(201_501...299_912).contains(level) {
            problems.report(at: ["minimum_patch_level"], "expected a month such as 202601")
        }
        try problems.throwIfAny()
        self.anchors = anchors
        self.signers = signers
        package = Array(configuration.package.utf8)
        minimumPatchLevel = configuration.minimumPatchLevel
    }

    private static func anchors(
        _ reference: SecretReference, at path: [ConfigurationError.Component], _ host: PluginHost
    ) throws(ConfigurationError) -> [TrustAnchor] {
        do {
            guard let document = try host.secrets.document(reference) else {
                throw ConfigurationError(at: path, "\(reference) has no value")
            }
            let anchors = try PEM.blocks("CERTIFICATE", in: document).map { try TrustAnchor(der: $0) }
            guard !anchors.isEmpty else { throw ConfigurationError(at: path, "\(reference) has no certificate") }
            return anchors
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(at: path, "\(reference): \(error)")
        }
    }

    private func appraise(_ request: AndroidKeyRequest, _ context: ProviderContext) -> Verdict {
        let attestation: AndroidKeyAttestation
        do throws(CertificateError) {
            let chain = try Certificate.chain(der: request.chain)
            do throws(AndroidKeyAttestation.Refusal) {
                attestation = try AndroidKeyAttestation(chain, under: anchors, at: context.now)
            } catch {
                return refused(error)
            }
        } catch {
            return .refused(Self.malformed, detail: "\(error)")
        }
        // The kernel has found the challenge genuine, and redeems it.
        guard attestation.challenge == context.challenge else { return .refused(Self.challengeWrong) }
        let level: String
        switch attestation.securityLevel {
        case .software: return .refused(Self.software)
        case .trustedEnvironment: level = "trusted_environment"
        case .strongBox: level = "strong_box"
        }
        var facts = [Fact(Self.levelFact, .text(level))]
        if let patch = attestation.patchLevel { facts.append(Fact(Self.patchFact, .integer(Int64(patch)))) }
        guard let application = attestation.application, application.packages == [package],
            !application.signers.isEmpty, application.signers.allSatisfy({ signers.contains($0) })
        else {
            let signer = attestation.application?.signers.first.map { Hex.encode($0) } ?? "none"
            return .refused(Self.appWrong, detail: "the signer is \(signer)", facts: facts)
        }
        guard attestation.isDeviceLocked == true, attestation.isBootVerified else {
            return .refused(Self.unlocked, facts: facts)
        }
        if let minimumPatchLevel, (attestation.patchLevel ?? 0) < minimumPatchLevel {
            return .refused(Self.patchOld, facts: facts)
        }
        return .verified(Appraisal(facts: facts))
    }

    private func refused(_ refusal: AndroidKeyAttestation.Refusal) -> Verdict {
        switch refusal {
        case .malformed: .refused(Self.malformed, detail: "the description of the key cannot be read")
        case .extensionMissing: .refused(Self.malformed, detail: "the leaf does not describe its key")
        case .extensionOutsideLeaf:
            .refused(Self.untrusted, detail: "another certificate than the leaf describes a key")
        case .keyInvalid: .refused(Self.malformed, detail: "the key is none")
        case .untrusted(let error): .refused(Self.untrusted, detail: "\(error)")
        }
    }
}
