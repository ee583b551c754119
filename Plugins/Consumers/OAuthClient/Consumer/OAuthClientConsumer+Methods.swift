public import AssayCore
public import AssayKit

extension OAuthClientConsumer {
    /// To have client attestations verified.
    public static let verifyAttestations = Permission("clientAttestations.verify")
    /// To have client assertions verified, which are used up.
    public static let verifyAssertions = Permission("clientAssertions.verify")
    /// To have tokens introspected.
    public static let introspectTokens = Permission("tokens.introspect")

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ConsumerMethod<OAuthClientConsumer>] = [
        .exchange { try await $0.exchange($1, $2) },
        .redeem(
            "attestClient", [HTTPRule(.post, "/client-attestation", version: .v1)], selection: .tokenProject,
            reply: [
                .required("client_attestation", .text), .required("expires_in", .integer(1...2_592_000)),
            ],
            binding: HTTPBinding(
                errors: .oauth, statuses: [.permissionDenied: 401, .unauthenticated: 401, .unavailable: 500])
        ) { (consumer, request: AttestClientRequest) in
            PreparedRequest { context in try consumer.attest(request, context) }
        },
        .call(
            "verifyClientAttestation", [HTTPRule(.post, "/client-attestation/verify", version: .v1)],
            permission: verifyAttestations, selection: .audience("audience"), reply: verifiedClient,
            binding: HTTPBinding(errors: .oauth)
        ) { (consumer, request: VerifyClientRequest, context) in
            try await consumer.verify(request, context)
        },
        .call(
            "generateAttestationChallenge",
            [
                HTTPRule(
                    .post, "/client-attestation/challenge", version: .v1, body: HTTPRule.Body.none, query: ["audience"])
            ],
            permission: nil, selection: .audience("audience"), reply: [.required("attestation_challenge", .text)],
            binding: HTTPBinding(errors: .oauth)
        ) { (consumer, request: ChallengeRequest, context) in
            try await consumer.challenge(request, context)
        },
        .call(
            "verifyClientAssertion", [HTTPRule(.post, "/oauth/client-assertion", version: .v1)],
            permission: verifyAssertions, selection: .section(audience: "audience", token: nil),
            reply: judgedAssertion, binding: .oauth
        ) { (consumer, request: ClientAssertionRequest, context) in
            try await consumer.judge(request, context)
        },
        .call(
            "introspectToken", [HTTPRule(.post, "/introspect", version: .v1)], permission: introspectTokens,
            // RFC 7662 has no such parameter: a client of it sends a token alone.
            selection: .section(audience: "audience", token: "token"), reply: introspected, binding: .oauth
        ) { (consumer, request: IntrospectionRequest, context) in
            try await consumer.introspect(request, context)
        },
        .call(
            "introspectProjectToken",
            [HTTPRule(.post, "/v1/{resource=projects/*}/introspect", version: .v1)], permission: introspectTokens,
            selection: .resource, reply: introspected, binding: .oauth
        ) { (consumer, request: IntrospectionRequest, context) in
            try await consumer.introspect(request, context)
        },
    ]

    private static let verifiedClient: MessageShape = [
        .required("clientId", .text), .required("jkt", .text),
        .required("cnf", .message(MessageShape([], isOpen: true))),
        .required("mode", .choice(VerifiedClient.Method.allCases.map(\.authenticationMethod))),
        .required("attester", .text), .required("exp", .integer(0...253_402_300_799)), .optional("dpopJkt", .text),
        .optional("attestationChallenge", .text),
    ]

    private static let judgedAssertion: MessageShape = [
        .required("verified", .boolean), .required("clientId", .text),
        .required("result", .choice(ClientAssertionCheck.Result.Kind.allCases.map(\.rawValue))),
        .required("enforcement", .choice(EnforcementMode.allCases.map(\.rawValue))), .optional("provider", .text),
        .optional("sub", .text),
    ]

    private static let introspected = MessageShape([.required("active", .boolean)], isOpen: true)
}
