internal import AssayCore
internal import AssayCustomBackend
internal import AssayDebug
internal import AssayEngine
internal import AssayHTTPServer
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import Logging

@_spi(Fuzzing) internal import AssayExtAuthz

/// A kernel with a backend whose path `/bank` demands a token, and whose other paths demand none.
struct FuzzKernel: Sendable {
    let engine: Engine
    let envoy: ExtAuthzService

    static var shared: FuzzKernel { get throws { try made.get() } }

    private static let made = Result { try FuzzKernel() }

    private init() throws {
        let policy = PolicyFile(
            name: "fuzz.yaml",
            text: """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        providers: {debug: {tokens: [{name: fuzz, sha256: \(String(repeating: "0", count: 64))}]}}
                    consumers:
                      custom_backend:
                        tokens: {accept_development: true}
                        backends:
                          orders: {}
                          open: {tokens: {enforcement: UNENFORCED}}
                          bank:
                            tokens: {enforcement: UNENFORCED}
                            original_request: transport
                            routes:
                              - {path: /bank, tokens: {enforcement: ENFORCED}}
                              - {path: /bank/*, tokens: {enforcement: ENFORCED}}
                """)
        let logger = Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() })
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self), .consumer(CustomBackendConsumer.self)]),
            policies: .load([policy]), keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: logger))
        envoy = try ExtAuthzService(
            handler: engine, configuration: ExtAuthzConfiguration(address: .host("127.0.0.1", port: 0)),
            logger: logger)
    }
}
