public import AssayKit

/// Says whether requests to an operator's own backends come from the project's apps: the question that a proxy asks before
/// it lets a request through.
public struct CustomBackendConsumer: TokenConsumer {
    public typealias Configuration = CustomBackendConfiguration

    public static let descriptor = PluginDescriptor(
        name: "custom_backend", contract: 1,
        summary: "Your own backends, behind a proxy that asks here before it lets a request through.",
        reasons: CustomBackendReasons.all, facts: [.requestMethod, .requestPath])

    public static let methods = [
        ConsumerMethod<Self>.decide(
            "verifyRequest",
            [
                HTTPRule(.any, "/verify", version: .v1), HTTPRule(.any, "/verify/{backend}", version: .v1),
            ],
            selection: .audience("backend"), reply: reply, binding: binding, allowsUnenforced: true,
            service: { consumer, request in consumer.backend(of: request)?.name },
            demand: { consumer, request, base in consumer.demand(of: request, base) },
            facts: { consumer, request in consumer.backend(of: request)?.facts(of: request) ?? [] }
        ) { (consumer, request: VerifyRequest, context) in try consumer.answer(request, context) }
    ]

    private static let reply: MessageShape = [
        .optional("appId", .text), .optional("jti", .text), .optional("provider", .text),
        .optional("consumed", .boolean), .optional("status", .integer(200...299)),
    ]

    /// What proxies understand: 2xx is yes, to Envoy 200 alone; 401 and 403 are no, and nginx makes a 500 of everything
    /// else.
    private static let binding = HTTPBinding(
        body: .ignored, errors: .bare,
        requestHeaders: [
            .init("x-original-uri", "originalUri"), .init("x-original-method", "originalMethod"),
            .init("x-forwarded-uri", "forwardedUri"), .init("x-forwarded-method", "forwardedMethod"),
        ],
        replyHeaders: [
            .init("x-appcheck-app-id", "appId"), .init("x-appcheck-jti", "jti"),
            .init("x-appcheck-provider", "provider"), .init("x-appcheck-consumed", "consumed"),
        ],
        statusField: "status",
        statuses: [
            .invalidArgument: 403, .failedPrecondition: 403, .notFound: 403, .resourceExhausted: 503,
            .internalError: 503,
        ])

    public let audiences: [String]
    private let backends: [ExactText: Backend]

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
                try Backend(name.string, section, at: ["backends", .key(name.string)])
            }
        }
        try problems.throwIfAny()
        self.backends = backends
        audiences = backends.keys.sorted().map(\.string)
    }

    /// The backend that a request is about; the kernel has seen that it names one, or that there is but one.
    private func backend(of request: VerifyRequest) -> Backend? {
        if let name = request.backend { return backends[name] }
        return backends.count == 1 ? backends.first?.value : nil
    }

    private func demand(of request: VerifyRequest, _ base: TokenDemand) -> TokenDemand {
        guard let backend = backend(of: request) else {
            // Nothing is known that it demands: what is not known is not let through.
            var demand = base
            demand.enforcement = .enforced
            return demand
        }
        return backend.demand(for: request, base)
    }

    private func answer(
        _ request: VerifyRequest, _ context: ConsumerContext
    ) throws(InvalidRequest) -> ConsumerVerdict {
        guard let backend = backend(of: request) else { throw InvalidRequest("there is no such backend") }
        // The demand did not say which route it is: with good tokens, too, nobody may choose it by being unclear.
        if let reason = backend.choice(for: request).problem { return .refused(reason) }
        var members = backend.successStatus.map { [JSONMember("status", .integer(Int64($0)))] } ?? []
        if let token = context.token {
            members += [
                JSONMember("appId", .string(token.subject)), JSONMember("jti", .string(token.id)),
                JSONMember("consumed", .bool(context.consumesToken)),
            ]
            if let provider = token.provider { members.append(JSONMember("provider", .string(provider))) }
        }
        return .granted(ConsumerReply(.object(members)))
    }
}
