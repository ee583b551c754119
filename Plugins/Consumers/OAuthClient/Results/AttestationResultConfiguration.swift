public import AssayCore

/// The part `ear`: attestation results (draft-ietf-rats-ear), and the relying parties that they are for.
public struct AttestationResultConfiguration: Decodable, Sendable {
    /// The relying parties: the audiences by which token exchange gives attestation results.
    public let audiences: [AudienceName]
    /// How long results are valid; five minutes when absent.
    public let lifetime: Duration?
    /// `eat_profile`; the profile of the third draft when absent.
    public let profile: String?
    /// `developer` of `ear_verifier_id`.
    public let developer: String?
    /// `build` of `ear_verifier_id`.
    public let build: String?
    /// `ear_appraisal_policy_ids`; none when absent.
    public let policyIDs: [String]?
    /// Whether claims are spelled `ear.status`, as before March 2026; they are not when absent.
    public let dottedNames: Bool?
    /// The claims of a provider's tokens about an app, by the provider's name; absent claims have the documented
    /// values.
    public let providers: [ExactText: TrustworthinessConfiguration]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case audiences
        case lifetime = "ttl"
        case profile, developer, build
        case policyIDs = "policy_ids"
        case dottedNames = "dotted_names"
        case providers
    }

    static let lives = Duration.seconds(10)...Duration.seconds(86_400)
    static let standardLifetime = Duration.seconds(300)
}

extension AttestationResultConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "audiences": PolicyKey(
            "The relying parties: the audiences by which token exchange gives attestation results.", .notEmpty,
            examples: [["https://relying-party.example.com"]]),
        "ttl": PolicyKey(
            "How long results are valid, in whole seconds; five minutes when absent.", .durations(lives),
            examples: ["5m"]),
        "profile": PolicyKey("`eat_profile`.", .length(1...256), standard: .string(EARProfile.standard)),
        "developer": PolicyKey(
            "`developer` of `ear_verifier_id`.", .length(1...256), standard: .string(EARProfile.developer)),
        "build": PolicyKey(
            "`build` of `ear_verifier_id`; this program's version when absent.", .length(1...256),
            examples: ["assay 1.0.0"]),
        "policy_ids": PolicyKey(
            "`ear_appraisal_policy_ids`; none when absent.", .notEmpty, examples: [["https://example.com/policies/1"]]),
        "dotted_names": PolicyKey(
            "Whether claims are spelled `ear.status`, as drafts before March 2026 did.", standard: false),
        "providers": PolicyKey(
            """
            The claims of a provider's tokens about an app, by the provider's name, instead of this program's claims.
            """, examples: [["custom": ["sourced-data": 2]]], names: .providers),
    ]
}

/// The claims of a provider's tokens about an app: numbers of AR4SI, from -128 to 127; an absent claim is not made.
public struct TrustworthinessConfiguration: Decodable, Sendable {
    let numbers: [TrustworthinessVector.Claim: Int]

    enum CodingKeys: String, CodingKey, CaseIterable {
        case instanceIdentity = "instance-identity"
        case configuration
        case executables
        case fileSystem = "file-system"
        case hardware
        case runtimeOpaque = "runtime-opaque"
        case storageOpaque = "storage-opaque"
        case sourcedData = "sourced-data"
    }

    /// Decodes the claims of the trustworthiness vector.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var numbers: [TrustworthinessVector.Claim: Int] = [:]
        for key in CodingKeys.allCases {
            guard let claim = TrustworthinessVector.Claim(exactly: key.rawValue) else { continue }
            numbers[claim] = try container.decodeIfPresent(Int.self, forKey: key)
        }
        self.numbers = numbers
    }
}

extension TrustworthinessConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "instance-identity": key("Whether the instance is known, and not compromised."),
        "configuration": key("Whether it is configured as it should be."),
        "executables": key("Whether the right programs run."),
        "file-system": key("Whether its files are the right ones."),
        "hardware": key("Whether the device is genuine."),
        "runtime-opaque": key("Whether others on the device can read its memory."),
        "storage-opaque": key("Whether others can read its stored data."),
        "sourced-data": key("Whether data from other sources can be trusted."),
    ]

    private static func key(_ text: String) -> PolicyKey {
        PolicyKey("\(text) A number of AR4SI.", .range(TrustworthinessVector.range))
    }
}
