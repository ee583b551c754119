public import AssayCore
internal import AssayCrypto

/// What App Attest's evidence tells beyond that it is genuine.
public enum AppAttestFacts {
    /// `development` or `production`.
    public static let environment = FactName(
        "environment", .words(AppAttestEnvironment.allCases.map { ExactText($0.rawValue) }))
    /// The key identifier, in Base 64 as clients write it.
    ///
    /// In a refused attestation, the key identifier that the client sent, unverified. In a refused assertion, that of
    /// the attested key in the artifact.
    public static let keyID = FactName("key_id", .digest, identifiesAttester: true)
    /// How long ago the key was attested, in whole seconds.
    public static let keyAge = FactName("key_age", .duration)
    /// The version of the operating system, as the leaf certificate states it; absent when it is not numbers and dots, so that
    /// rules can compare it.
    public static let systemVersion = FactName("os_version", .version)
    /// The version of the app's bundle, as the authenticator data states it; absent when it is not numbers and dots.
    public static let bundleVersion = FactName("bundle_version", .version)
    /// Apple's number for how the system came to trust the app.
    public static let validationCategory = FactName("validation_category", .integer)
    /// `verified`, or the reason code of a missing or refused receipt.
    public static let receipt: FactName = "receipt"
    /// About how many keys the app attested on the device in 30 days; absent when unknown.
    public static let riskMetric = FactName("risk_metric", .integer)
    /// How long ago Apple said so, in whole seconds.
    public static let riskMetricAge = FactName("risk_metric_age", .duration)

    /// The names of members that this version does not know and passed over; absent when there are none.
    public static let unknownMembers: FactName = "unknown_members"

    /// All of them.
    public static let all = [
        environment, keyID, keyAge, systemVersion, bundleVersion, validationCategory, receipt, riskMetric,
        riskMetricAge, unknownMembers,
    ]

    /// The key identifier that a client sent; none if it does not have the form of one.
    static func shown(keyID bytes: [UInt8]) -> [Fact] {
        bytes.count == SHA256.byteCount ? [Fact(keyID, .text(Base64.encode(bytes)))] : []
    }

    static func of(_ attestation: VerifiedAttestation) -> [Fact] {
        var facts = [
            Fact(environment, .text(attestation.environment.rawValue)),
            Fact(keyID, .text(Base64.encode(attestation.keyID))),
        ]
        if let version = attestation.system.version, systemVersion.type.admits(.text(version)) {
            facts.append(Fact(systemVersion, .text(version)))
        }
        facts += reported(attestation.bundleVersion, attestation.validationCategory)
        switch attestation.receipt {
        case .verified?: facts.append(Fact(receipt, .text("verified")))
        case .legacy2020?: facts.append(Fact(receipt, .text("legacy-2020")))
        case .refused(let refusal)?: facts.append(Fact(receipt, .text(refusal.reason.code)))
        case nil: break
        }
        return facts + of(attestation.unknownMembers)
    }

    static func of(_ assertion: VerifiedAssertion, _ artifact: AttestedKeyArtifact, at now: Instant) -> [Fact] {
        [
            Fact(environment, .text(artifact.environment.rawValue)),
            Fact(keyID, .text(Base64.encode(artifact.keyID))),
            Fact(keyAge, .duration(.seconds((now - artifact.attested).wholeSeconds))),
        ] + reported(assertion.bundleVersion, assertion.validationCategory) + of(assertion.unknownMembers)
    }

    private static func of(_ members: UnknownMembers) -> [Fact] {
        members.words.map { [Fact(unknownMembers, cutting: $0)] } ?? []
    }

    static func of(_ metric: RiskMetric?, at now: Instant) -> [Fact] {
        guard let metric else { return [] }
        return [
            Fact(riskMetric, .integer(Int64(metric.value))),
            Fact(riskMetricAge, .duration(.seconds(max((now - metric.determined).wholeSeconds, 0)))),
        ]
    }

    private static func reported(_ version: String?, _ category: ValidationCategory?) -> [Fact] {
        var facts: [Fact] = []
        if let version, bundleVersion.type.admits(.text(version)) {
            facts.append(Fact(bundleVersion, .text(version)))
        }
        if let category { facts.append(Fact(validationCategory, .integer(Int64(category.rawValue)))) }
        return facts
    }
}
