import AssayCore
import AssayEngine
import AssayKit
import AssayServices

/// A provider that declares what a test wants.
struct DeclaredProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}
    struct Request: RequestMessage {
        init(_ fields: RequestFields) {}
    }

    @TaskLocal static var descriptor = PluginDescriptor.provider(name: "declared", summary: "A test.", reasons: [])
    @TaskLocal static var methods: [ProviderMethod<DeclaredProvider>] = [exchange("exchangeDeclared")]

    static func exchange(_ name: String) -> ProviderMethod<DeclaredProvider> {
        .exchange(name) { (_, _: Request, _) in .verified }
    }

    /// A registry with the provider as it is described here.
    static func registry(
        _ descriptor: PluginDescriptor, methods: [String] = ["exchangeDeclared"], beside plugins: [Plugin] = []
    ) throws -> Registry {
        try $descriptor.withValue(descriptor) {
            try $methods.withValue(methods.map(exchange)) {
                try Registry(plugins + [.provider(Self.self)], administration: .api)
            }
        }
    }

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {}
}

/// A consumer that declares what a test wants.
struct DeclaredConsumer: TokenConsumer {
    struct Configuration: Decodable, Sendable {}
    struct Request: RequestMessage {
        init(_ fields: RequestFields) {}
    }

    @TaskLocal static var descriptor = PluginDescriptor.consumer(name: "taking", summary: "A test.", reasons: [])
    @TaskLocal static var methods: [ConsumerMethod<DeclaredConsumer>] = []

    static func call(_ name: String, _ rules: HTTPRule...) -> ConsumerMethod<DeclaredConsumer> {
        .call(name, rules, permission: nil, selection: .tokenProject) { (_, _: Request, _) in
            .granted(ConsumerReply([:]))
        }
    }

    let audiences: [String] = []

    init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) {}
}

/// Another consumer, for conflicts between two.
struct OtherConsumer: TokenConsumer {
    struct Configuration: Decodable, Sendable {}

    static let descriptor = PluginDescriptor.consumer(name: "other", summary: "A test.", reasons: [])
    static let methods: [ConsumerMethod<OtherConsumer>] = [
        .call(
            "getParts", [HTTPRule(.get, "/parts/{part}/all", version: .v1), HTTPRule(.post, "/parts", version: .v1)],
            permission: nil, selection: .tokenProject
        ) { (_, _: DeclaredConsumer.Request, _) in .granted(ConsumerReply([:])) }
    ]

    let audiences: [String] = []

    init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) {}
}
