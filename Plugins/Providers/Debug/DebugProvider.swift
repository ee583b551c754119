public import AssayCore
public import AssayKit

/// Debug tokens: shared secrets that replace a device's evidence, for simulators and continuous integration.
///
/// The policy names each token by the SHA-256 of its text, or refers to the text. With `managed`, administrators
/// register others, which are kept in the state store, hashed in the same way. A token issued for one has `provider:
/// debug`.
public struct DebugProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "debug", version: AssayVersion.text,
        summary: "Debug tokens that the policy lists, or that administrators registered.", stability: .stable,
        posture: SecurityPosture(
            proves: "The client knows a debug token. Nothing is proven of the app, the device or the user.",
            trusts: [
                "everyone who knows a debug token, and every place where one was copied to",
                "administrators of the project, who register tokens where the policy allows it",
                "the state store, which keeps the registered tokens",
            ]),
        reasons: [DebugReasons.unknownToken, DebugReasons.expiredToken, DebugReasons.tooManyUnknown],
        facts: [.debugTokenName, .debugTokenID],
        // The first use of registered tokens compares their index with the document that has them all, and corrects it.
        limits: PluginLimits(
            evidence: 4096, concurrentCalls: 10_000, outboundCalls: 0,
            storeWrites: ManagedTokenIndex.listLimit + 2 * ManagedTokenPolicy.limits.upperBound, reply: 256 * 1024),
        execution: .shared, isForDevelopment: true,
        answers: [ManagedTokenStore.tooManyUnknown(wait: nil)])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<DebugProvider>] = [
        .exchange("exchangeDebugToken", resources: [.app, .oauthClient]) { provider, request, context in
            try await provider.appraise(request, context)
        },
        .call(
            "createDebugToken", MethodPath(.post, "/debugTokens", body: .field("debugToken")),
            reply: DebugTokenView.shape
        ) { provider, request, context in try await provider.create(request, context) },
        .call(
            "listDebugTokens", MethodPath(.get, "/debugTokens", query: ["pageSize", "pageToken"]),
            reply: ListDebugTokensRequest.reply
        ) { provider, request, context in try await provider.list(request, context) },
        .call(
            "getDebugToken", MethodPath(.get, "/debugTokens/{debugTokenId}"), reply: DebugTokenView.shape
        ) { provider, request, context in try await provider.get(request, context) },
        .call(
            "updateDebugToken",
            MethodPath(.patch, "/debugTokens/{debugTokenId}", body: .field("debugToken"), query: ["updateMask"]),
            reply: DebugTokenView.shape
        ) { provider, request, context in try await provider.update(request, context) },
        .call(
            "deleteDebugToken", MethodPath(.delete, "/debugTokens/{debugTokenId}", query: ["etag"]), reply: []
        ) { provider, request, context in try await provider.delete(request, context) },
    ]

    /// Those of the policy.
    let listed: ListedTokens
    /// The tokens that administrators registered; nil if the policy allows none.
    let managed: ManagedTokenStore?
    /// The place of the policy's section.
    let place: String?
    let randomness: Randomness

    /// Warnings about the policy's tokens, such as an expiry in the past.
    public var warnings: [ConfigurationWarning] { listed.warnings }

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: Located<DebugConfiguration>, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        listed = ListedTokens(
            configuration.value.tokens ?? [], secrets: host.secrets, now: host.clock.now, problems: &problems)
        managed = configuration.value.managed.map { policy in
            let limit = policy.limit ?? ManagedTokenPolicy.standardLimit
            let limits = ManagedTokenPolicy.limits
            if !limits.contains(limit) {
                problems.report(
                    at: ["managed", "limit"], "expected a number from \(limits.lowerBound) to \(limits.upperBound)")
            }
            return ManagedTokenStore(limit: limit, clock: host.clock)
        }
        place = configuration.place
        randomness = host.randomness
        try problems.throwIfAny()
    }

    func appraise(_ request: ExchangeDebugTokenRequest, _ context: ProviderContext) async throws -> Verdict {
        // The time of a lookup by hash reveals nothing about the token. The policy's tokens come first, and need no
        // store.
        let hash = DebugToken.hash(of: request.debugToken)
        let token: DebugTokenView
        // The policy has only the hash, so the text is checked here.
        if request.debugToken.utf8.count < DebugToken.shortest {
            return .refused(DebugReasons.unknownToken)
        } else if let found = listed.token(hash: hash) {
            token = found.view
        } else if UUID4.isText(request.debugToken), let found = try await managed?.token(hash: hash, context) {
            token = found.view
        } else {
            return .refused(DebugReasons.unknownToken)
        }
        if let expires = token.expires, context.now >= expires {
            return .refused(
                DebugReasons.expiredToken, detail: "the token named \(token.displayName) expired at \(expires)")
        }
        return .verified(Appraisal(facts: token.facts))
    }
}

extension FactName {
    /// The name of the debug token that was presented, registered or changed.
    public static let debugTokenName: FactName = "debug_token"
    /// Its identifier in the API, because registered tokens may have the same name.
    public static let debugTokenID = FactName("debug_token_id", identifiesAttester: true)
}

/// Why the debug provider refuses.
public enum DebugReasons {
    /// The debug token is neither listed by the policy nor registered.
    public static let unknownToken = Reason(
        "debug_token_unknown", "The debug token is neither listed by the policy nor registered.",
        advice: """
            Add the token's SHA-256 to `providers.debug.tokens` of this app (`assay debug-token` prints it), or \
            register it. The registered ones need `managed: {}` in the policy.
            """)
    /// The debug token has expired.
    public static let expiredToken = Reason(
        "debug_token_expired", "The debug token has expired.",
        advice: "Remove `expires` of the token, set a later one, or let the developer use a new token.")
    /// Too many unknown debug tokens came from the peer's address; this one was not looked up.
    public static let tooManyUnknown = Reason(
        "debug_tokens_unknown_too_many",
        "Too many unknown debug tokens came from the peer's address; this one was not looked up.",
        advice: """
            An attacker guesses debug tokens, or a build farm runs with a token that was removed. Register the token; \
            addresses are admitted again after the wait in `Retry-After`.
            """)
}

/// What a client sends to exchange a debug token.
struct ExchangeDebugTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("debugToken", .text)]

    let debugToken: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        debugToken = try fields.string("debugToken")
    }
}
