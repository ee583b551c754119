import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import Logging

func tokenForDebugSecret(_ secret: String) async throws -> String? {
    let policy = PolicyFile(
        name: "policy.yaml",
        text: """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    providers: {debug: {tokens: [{name: example, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}}
            """)
    let engine = try Engine(
        registry: Registry([.provider(DebugProvider.self)]), policies: .load([policy]), keys: .ephemeral(),
        host: PluginHost(store: MemoryStore(clock: .system), logger: Logger(label: "example")))
    let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    let reply = await engine.handle(Call("exchangeDebugToken", resource: app, body: ["debugToken": .string(secret)]))
    return try reply.result.get()["token"]?.string
}
