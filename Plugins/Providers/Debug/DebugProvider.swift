internal import AssayCrypto
public import AssayKit

/// Debug tokens: shared secrets that stand in for a device's evidence, for simulators and continuous integration.
///
/// The policy names each token by the SHA-256 of its text, or refers to the text; a token obtained so says
/// `provider: debug`.
public struct DebugProvider: AttestationProvider {
    public static let descriptor = PluginDescriptor(
        name: "debug", contract: 1, summary: "Debug tokens that the policy lists.",
        reasons: [DebugReasons.unknownToken, DebugReasons.expiredToken], facts: [.debugTokenName], evidenceLimit: 1024,
        isForDevelopment: true)

    public static let methods: [ProviderMethod<DebugProvider>] = [
        .exchange("exchangeDebugToken", resources: [.app, .oauthClient]) { provider, request, context in
            provider.appraise(request, at: context.now)
        }
    ]

    /// The tokens by their hashes.
    private let tokens: [[UInt8]: Entry]

    private struct Entry: Sendable {
        let name: String
        let expires: Instant?
    }

    public init(_ configuration: DebugConfiguration, app: AppIdentity, host: Host) throws(ConfigurationError) {
        var tokens: [[UInt8]: Entry] = [:]
        var names: Set<String> = []
        var problems = ConfigurationProblems()
        for (index, token) in (configuration.tokens ?? []).enumerated() {
            let path: [ConfigurationError.Component] = ["tokens", .index(index)]
            if !names.insert(token.name).inserted {
                problems.report(at: path + ["name"], "two debug tokens are named `\(token.name)`")
            }
            let found = problems.attempt { () throws(ConfigurationError) in
                try token.hash(at: path, secrets: host.secrets)
            }
            guard case let hash?? = found else { continue }
            if tokens[hash] != nil { problems.report(at: path, "the same token stands here twice") }
            tokens[hash] = Entry(name: token.name, expires: token.expires)
        }
        try problems.throwIfAny()
        self.tokens = tokens
    }

    func appraise(_ request: ExchangeDebugTokenRequest, at now: Instant) -> Verdict {
        // Looking up a hash tells nothing about the token by the time it takes.
        guard let entry = tokens[DebugToken.hash(of: request.debugToken)] else {
            return .refused(DebugReasons.unknownToken)
        }
        if let expires = entry.expires, now >= expires {
            return .refused(DebugReasons.expiredToken, detail: "the token named \(entry.name) expired at \(expires)")
        }
        return .verified(Appraisal(facts: [Fact(.debugTokenName, .text(entry.name))]))
    }
}

extension FactName {
    /// Which of the policy's debug tokens was shown.
    public static let debugTokenName: FactName = "debug_token"
}

/// Why the debug provider refuses.
public enum DebugReasons {
    public static let unknownToken = Reason("debug_token_unknown", "The policy does not list the debug token.")
    public static let expiredToken = Reason("debug_token_expired", "The debug token is past its expiry.")
}

/// What a client sends to exchange a debug token.
struct ExchangeDebugTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("debugToken", .text)]

    let debugToken: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        debugToken = try fields.string("debugToken")
    }
}
