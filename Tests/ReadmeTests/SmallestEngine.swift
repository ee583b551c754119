import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import Logging

func exchangeDebugToken(_ secret: String, app: String, under policy: PolicyFile) async throws -> JSON {
    let engine = try Engine(
        registry: Registry([.provider(DebugProvider.self)]), policies: .load([policy]), keys: .ephemeral(),
        host: PluginHost(store: MemoryStore(clock: .system), logger: Logger(label: "example")))
    let call = Call("exchangeDebugToken", resource: app, body: ["debugToken": .string(secret)])
    return try await engine.handle(call).result.get()
}
