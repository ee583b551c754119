internal import AssayCore
internal import AssayKit

/// A provider whose evidence is always good: it gives the suite of consumers its tokens.
struct ConformanceTokens: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let method = "exchangeConformanceToken"
    static let descriptor = PluginDescriptor.provider(
        name: "conformance_tokens", version: "1.0.0", summary: "Tokens for a conformance suite.",
        reasons: [], execution: .shared)
    static let methods: [ProviderMethod<ConformanceTokens>] = [
        .exchange(method, resources: [.app, .oauthClient]) { (_, _: Request, _) in .verified }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
