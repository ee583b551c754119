import AssayCore
import AssayKit
@testable import AssayServices

/// A provider that asks what evidence says, and refuses whatever the answer is.
struct AskingProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let what: String

        init(_ fields: RequestFields) throws(InvalidRequest) {
            what = try fields.string("what")
        }
    }

    static let refused = Reason("question_refused", "The answer does not count.")
    static let descriptor = PluginDescriptor.provider(
        name: "asking", summary: "Asks, and refuses.", reasons: [refused])
    static let methods: [ProviderMethod<AskingProvider>] = [
        .exchange("exchangeQuestion") { (provider, request: Request, context) in
            switch request.what {
            case "server":
                if let url = EndpointURL("https://upstream.example.com/") {
                    _ = try? await provider.host.http.send(OutboundRequest(.get, url))
                }
            case "state": _ = try await provider.host.space.subspace("notes").get("note")
            default: _ = try await context.state.list(limit: 10)
            }
            return .refused(Self.refused)
        }
    ]

    let host: PluginHost

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        self.host = host
    }
}
