public import AssayCore
public import AssayKit
internal import AssayRequestProof

/// Says whether requests to an operator's own backends come from the project's apps: the question that a proxy asks
/// before it forwards a request.
public struct CustomBackendConsumer: TokenConsumer {
    /// The consumer's section of a policy.
    public typealias Configuration = CustomBackendConfiguration

    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.consumer(
        name: "custom_backend", version: AssayVersion.text,
        summary: "Your own backends, behind a proxy that asks here before it allows a request.", stability: .stable,
        posture: SecurityPosture(
            proves: """
                The request that the proxy asks about has a valid App Check token, as the policy demands for its path. It does not \
                prove who the user is.
                """,
            trusts: [
                "the provider that issued the App Check token",
                "the proxy, which must name the true method and path, and let no request pass without an answer",
            ]),
        reasons: CustomBackendReasons.all + RequestProofReasons.all.filter { $0 != RequestProofReasons.digest },
        facts: [.requestMethod, .requestPath, .requestProof, .requestKey],
        // A proxy repeats the target of a request in several headers.
        limits: PluginLimits(
            evidence: 64 * 1024, concurrentCalls: 10_000, outboundCalls: 0, storeWrites: 1, reply: 4096),
        execution: .shared)

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods = [
        ConsumerMethod<Self>.redeem(
            "verifyRequest",
            [
                HTTPRule(.any, "/verify", version: .v1), HTTPRule(.any, "/verify/{backend}", version: .v1),
            ],
            selection: .audience("backend"), reply: reply, binding: binding, allowsUnenforced: true
        ) { (consumer, request: VerifyRequest) in try consumer.prepare(request) }
    ]

    private static let reply: MessageShape = [
        .optional("appId", .text), .optional("jti", .text), .optional("provider", .text),
        .optional("consumed", .boolean), .optional("proof", .text), .optional("status", .integer(200...299)),
    ]

    /// The answers that proxies understand: 2xx allows the request, for Envoy only 200; 401 and 403 deny it, and nginx
    /// turns any other answer into a 500.
    private static let binding = HTTPBinding(
        body: .ignored, errors: .bare,
        requestHeaders: [
            .init("x-original-uri", "originalUri"), .init("x-original-method", "originalMethod"),
            .init("x-forwarded-uri", "forwardedUri"), .init("x-forwarded-method", "forwardedMethod"),
        ] + VerifyRequest.proofHeaders,
        replyHeaders: [
            .init("x-appcheck-app-id", "appId"), .init("x-appcheck-jti", "jti"),
            .init("x-appcheck-provider", "provider"), .init("x-appcheck-consumed", "consumed"),
            .init("x-appcheck-proof", "proof"),
        ],
        statusField: "status",
        statuses: [
            .invalidArgument: 403, .failedPrecondition: 403, .notFound: 403, .resourceExhausted: 503,
            .internalError: 503,
        ],
        proxied: .init(
            method: "method", target: "uri", backend: "backend", headers: VerifyRequest.proofHeaders))

    /// The audiences whose tokens the consumer issues or checks.
    public let audiences: [String]
    /// What each backend and each of its routes demands.
    public var demands: [PartDemand] { backends.sorted { $0.key < $1.key }.flatMap(\.value.demands) }
    private let backends: [ExactText: Backend]

    /// Makes the consumer for its scope from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: CustomBackendConfiguration, scope: ConsumerScope, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        var backends: [ExactText: Backend] = [:]
        if configuration.backends.isEmpty {
            problems.report(at: ["backends"], "without a backend nothing is asked for")
        }
        for (name, section) in configuration.backends {
            backends[name] = problems.attempt { () throws(ConfigurationError) in
                try Backend(name.string, section, under: scope.tokens, at: ["backends", .key(name.string)])
            }
        }
        try problems.throwIfAny()
        self.backends = backends
        audiences = backends.keys.sorted().map(\.string)
    }

    /// Finds the backend of a request: the kernel has checked that the request names one, or that there is only one.
    private func prepare(_ request: VerifyRequest) throws(InvalidRequest) -> PreparedRequest {
        let backend =
            if let name = request.backend {
                backends[name]
            } else {
                backends.count == 1 ? backends.first?.value : nil
            }
        guard let backend else { throw InvalidRequest("unknown backend") }
        return backend.prepare(request)
    }
}
