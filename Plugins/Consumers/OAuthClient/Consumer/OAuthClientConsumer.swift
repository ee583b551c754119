public import AssayCore
public import AssayKit

/// OAuth clients: attests them for App Check tokens, and authenticates them for authorization servers and resource
/// servers.
///
/// The parts of its section are independent: client attestations, their verification with DPoP and challenges, App
/// Check tokens as client assertions, introspection, and attestation results. A part that the section does not have
/// refuses.
public struct OAuthClientConsumer: TokenConsumer {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.consumer(
        name: "oauth_client", version: AssayVersion.text,
        summary: "Client attestations, DPoP, client assertions and introspection for authorization servers.",
        stability: .stable,
        posture: SecurityPosture(
            proves: """
                To an authorization server: a request comes from an instance of a client whose app showed valid evidence, and \
                that holds the attested key. It does not prove who the user is.
                """,
            trusts: [
                "the provider that issued the App Check token",
                "the attesters that the policy names, and whoever holds their keys",
                "the authorization and resource servers that ask, which must act on the answers",
                "the state store, which remembers used proofs and keeps the keys of challenges",
            ]),
        reasons: OAuthClientReasons.all,
        facts: [.oauthClient, .clientKey, .attester, .clientAssertion, .introspected],
        metrics: [ClientAssertionCheck.made],
        // A request may hold an attestation, two proofs and an access token. The calls to other servers fetch attesters' keys.
        limits: PluginLimits(
            evidence: 48 * 1024, concurrentCalls: 10_000, outboundCalls: 8, storeWrites: 8, reply: 64 * 1024),
        execution: .shared, tokenTypes: [ClientAttestation.type, EARProfile.type], takesOAuthClients: true,
        answers: OAuthClientAnswers.all)

    /// The audiences whose tokens the consumer issues or checks.
    public let audiences: [String]
    let scope: ConsumerScope
    let host: PluginHost
    let authorizationServers: Set<ExactText>
    let names: ClientNames
    let attester: ClientAttester?
    let verification: AttestationVerification?
    let assertions: ClientAssertionCheck?
    let introspection: TokenIntrospection?
    let results: AttestationResults?

    /// Makes the consumer for its scope from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: OAuthClientConfiguration, scope: ConsumerScope, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        self.scope = scope
        self.host = host
        problems.check(audiences: configuration.authorizationServers, at: ["authorization_servers"])
        let servers = configuration.authorizationServers.map(\.text)
        authorizationServers = Set(exactly: servers)
        let names = ClientNames((configuration.clients ?? [:]).mapValues(\.text), scope: scope, problems: &problems)
        self.names = names
        attester = configuration.attester.map { ClientAttester($0, host: host, problems: &problems) }
        verification = configuration.verifier.map { AttestationVerification($0, host: host, problems: &problems) }
        assertions = configuration.clientAssertion.map {
            ClientAssertionCheck($0, names: names, under: scope.tokens, problems: &problems)
        }
        introspection = configuration.introspection.map { TokenIntrospection($0, under: scope.tokens) }
        results = configuration.ear.map { AttestationResults($0, problems: &problems) }
        for (index, server) in (verification?.resourceServers ?? []).enumerated()
        where authorizationServers.contains(server) {
            problems.report(
                at: ["verifier", "resource_servers", .index(index)],
                "`\(server)` is one of `authorization_servers`, too")
        }
        if attester == nil, verification == nil, assertions == nil, introspection == nil, results == nil {
            problems.report(
                "expected `attester`, `verifier`, `client_assertion`, `introspection` or `ear`: otherwise nothing is offered"
            )
        }
        try problems.throwIfAny()
        var seen: Set<ExactText> = []
        let all = servers + (verification?.resourceServers ?? []) + (results?.audiences ?? [])
        audiences = all.filter { seen.insert($0).inserted }
    }

    /// The claims of an attestation that this project's attester signed; nothing of them is judged.
    @Sendable func attestationClaims(of token: String, _ tokens: any ConsumerTokens) -> JSON? {
        if let claims = attester?.claims(of: token) { return claims }
        guard let own = tokens.own(token), own.type.lowercasedASCII.isExactly(ClientAttestation.type) else {
            return nil
        }
        return own.claims
    }
}
