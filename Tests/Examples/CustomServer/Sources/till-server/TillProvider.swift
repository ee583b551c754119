import AssayCore
import AssayCrypto
import AssayKit

/// Tills that hold a key of their own: a till proves itself with the HMAC-SHA-256 of a challenge.
struct TillProvider: AttestationProvider {
    static let unknownTill = Reason(
        "till_unknown", "The policy has no till of this name.", advice: "Add the till to `tills`, or find out who asks."
    )
    static let wrongCode = Reason(
        "till_code_wrong", "The code is not the one that the till's key gives for the challenge.",
        advice: "Compare the key of the till with the key of the policy.")
    static let name: FactName = "till"

    static let descriptor = PluginDescriptor.provider(
        name: "till", summary: "Tills that hold a key of their own.", reasons: [unknownTill, wrongCode],
        facts: [name], limits: PluginLimits(evidence: 1024))

    static let methods: [ProviderMethod<TillProvider>] = [
        .challenge("generateTillChallenge"),
        .exchange("exchangeTillCode", challenge: \.challenge) { try await $0.appraise($1, $2) },
    ]

    private let keys: [ExactText: HMACSHA256]

    init(_ configuration: TillConfiguration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        var keys: [ExactText: HMACSHA256] = [:]
        for (index, till) in configuration.tills.enumerated() {
            // The message of the error names the place of the key, and never the key.
            guard let key = try? host.secrets.resolve(till.key), key.count >= 32 else {
                throw ConfigurationError(
                    at: ["tills", .index(index), "key"], "\(till.key) cannot be read, or has less than 32 bytes")
            }
            guard keys.updateValue(HMACSHA256(key: key), forKey: ExactText(till.name)) == nil else {
                throw ConfigurationError(at: ["tills", .index(index), "name"], "another till has this name")
            }
        }
        self.keys = keys
    }

    private func appraise(_ request: TillCode, _ context: ProviderContext) async throws -> Verdict {
        guard let key = keys[ExactText(request.till)] else { return .refused(Self.unknownTill) }
        guard key.isValid(request.code, for: request.challenge[...]) else { return .refused(Self.wrongCode) }
        return .verified(Appraisal(facts: [Fact(Self.name, .text(request.till))], holder: request.till))
    }
}

/// The section `till` of an app's providers.
struct TillConfiguration: DescribedConfiguration, Sendable {
    struct Till: DescribedConfiguration, Sendable {
        let name: String
        let key: SecretReference

        static let keys: [ExactText: PolicyKey] = [
            "name": "What the till calls itself.",
            "key": "Where the till's key is: 32 bytes or more. `till-server till-key` makes one.",
        ]
    }

    let tills: [Till]

    static let keys: [ExactText: PolicyKey] = ["tills": PolicyKey("The tills that are trusted.", .notEmpty)]
}

/// The evidence: `{"till": "till-1", "challenge": "…", "code": "…"}`, with bytes in Base64.
struct TillCode: RequestMessage {
    static let shape: MessageShape? = [
        .required("till", .text), .required("challenge", .bytes), .required("code", .bytes),
    ]

    let till: String
    let challenge: [UInt8]
    let code: [UInt8]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        till = try fields.string("till")
        challenge = try fields.bytes("challenge")
        code = try fields.bytes("code")
    }
}
