import AssayCore
import AssayKit

/// A provider that takes a server's word, for tests of what an exchange may say about its token.
struct VouchProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let lifetime: Duration?

        init(_ fields: RequestFields) throws(InvalidRequest) {
            lifetime = try fields.duration("life")
        }
    }

    static let descriptor = PluginDescriptor.provider(name: "vouch", summary: "A server's word.", reasons: [])
    static let methods: [ProviderMethod<VouchProvider>] = [
        .exchange("exchangeWord", resources: [.app, .oauthClient], takesTokenID: true) {
            (provider, request: Request, context) in
            .verified(Appraisal(tokenLifetime: request.lifetime))
        },
        .exchange("exchangeWordWithoutTokenID") { (provider, request: Request, context) in .verified },
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
