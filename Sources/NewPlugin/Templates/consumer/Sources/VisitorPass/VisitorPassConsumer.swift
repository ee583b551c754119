import AssayCore
import AssayKit

/// Passes for another service: a client with an App Check token gets a short-lived JWT that names what it is for.
public struct VisitorPassConsumer: TokenConsumer {
    /// The request asks for a purpose that the policy does not list.
    public static let unknownPurpose = Reason(
        "visitor_pass_purpose_unknown", "The policy has no purpose of this name.",
        advice: "Add the purpose to `purposes`, or find out which app asks.")
    /// What the pass is for, for records.
    public static let purpose = FactName("visitor_pass_purpose")
    private static let tokenType = "visitor-pass+jwt"

    /// What the kernel and operators know of the consumer.
    public static let descriptor = PluginDescriptor.consumer(
        name: "visitor_pass", version: "0.1.0", summary: "Short-lived passes for another service.",
        stability: .experimental,
        posture: SecurityPosture(
            proves: "The holder of a pass had a valid App Check token of the project a few minutes ago.",
            trusts: ["the provider that the token came from", "everyone who can read the pass"]),
        reasons: [unknownPurpose], facts: [purpose],
        limits: PluginLimits(evidence: 8192, time: .seconds(2), cpuTime: .milliseconds(100), reply: 8192),
        tokenTypes: [tokenType])

    /// What clients call, with their token in the header field `X-Firebase-AppCheck`.
    public static let methods: [ConsumerMethod<VisitorPassConsumer>] = [
        .redeem(
            "issueVisitorPass", [HTTPRule(.post, "/visitorPass", version: .v1)], selection: .tokenProject,
            reply: [.required("pass", .text), .required("ttl", .duration)]
        ) { (consumer, request: VisitorPassRequest) in
            // The kernel verifies the token by the demands of the policy, and asks for the answer then.
            PreparedRequest(facts: [Fact(purpose, .text(request.purpose))]) { context in
                try consumer.answer(request, context)
            }
        }
    ]

    /// No token exchange finds this consumer.
    public let audiences: [String] = []
    private let issuer: String
    private let audience: String
    private let purposes: Set<ExactText>
    private let lifetime: Duration

    /// Checks the section.
    ///
    /// - Throws: the errors in the section, each at its place.
    public init(
        _ configuration: VisitorPassConfiguration, scope: ConsumerScope, host: PluginHost
    ) throws(ConfigurationError) {
        guard VisitorPassConfiguration.lifetimes.contains(configuration.lifetime) else {
            throw ConfigurationError(at: ["lifetime"], "expected 1m to 1h")
        }
        guard !configuration.purposes.isEmpty else {
            throw ConfigurationError(at: ["purposes"], "without a purpose there are no passes")
        }
        issuer = scope.issuer
        audience = configuration.audience
        purposes = Set(configuration.purposes.map { ExactText($0) })
        lifetime = configuration.lifetime
    }

    /// A refusal is a value; an error that is thrown means that nothing could be decided.
    private func answer(_ request: VisitorPassRequest, _ context: ConsumerContext) throws -> ConsumerVerdict {
        guard purposes.contains(ExactText(request.purpose)) else { return .refused(Self.unknownPurpose) }
        let claims: JSON = [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(context.app?.subject ?? ""),
            "purpose": .string(request.purpose), "jti": .string(context.decision.text),
            "iat": .integer(context.now.seconds), "exp": .integer((context.now + lifetime).seconds),
        ]
        let pass = try context.tokens.sign(type: Self.tokenType, claims: claims)
        return .granted(
            ConsumerReply(
                ["pass": .string(pass), "ttl": .string("\(lifetime.components.seconds)s")],
                facts: [Fact(Self.purpose, .text(request.purpose))]))
    }
}
