import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Synchronization
import Testing

@Suite("What instances of a plugin share, and when they end")
struct SharedObjectTests {
    /// What became of instances and of objects: their names in the order of their ends.
    private final class Ends: Sendable {
        let names = Mutex<[String]>([])
        func add(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    private final class Watched: Sendable {
        let name: String
        let ends: Ends

        init(_ name: String, _ ends: Ends) {
            self.name = name
            self.ends = ends
        }

        deinit { ends.add(name) }
    }

    private struct CachingProvider: AttestationProvider {
        struct Configuration: Decodable, Sendable { let name: String }
        struct Request: RequestMessage {
            init(_ fields: RequestFields) {}
        }

        @TaskLocal static var ends = Ends()
        static let descriptor = PluginDescriptor.provider(name: "caching", summary: "A test.", reasons: [])
        static let methods: [ProviderMethod<CachingProvider>] = [
            .exchange("exchangeCached") { (_, _: Request, _) in .verified }
        ]
        let own: Watched
        let shared: Watched

        init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {
            own = Watched("the instance \(configuration.name)", Self.ends)
            shared = host.sharedObject("cache") { Watched("the cache", Self.ends) }
        }
    }

    private static func policies(_ names: String...) throws -> PolicySet {
        let apps = names.enumerated().map { "{id: '1:1:ios:\($0)', providers: {caching: {name: \($1)}}}" }
        return try .load([
            PolicyFile(name: "a.yaml", text: "projects: [{number: 1, id: a, apps: [\(apps.joined(separator: ", "))]}]")
        ])
    }

    @Test(
        "An object of a name is one for all apps, stays through a change of policies, and ends with the last instance")
    func sharing() throws {
        let ends = Ends()
        try CachingProvider.$ends.withValue(ends) {
            let engine = try Engine(
                registry: Registry([.provider(CachingProvider.self)]), policies: Self.policies("a", "b"),
                keys: .pooled(),
                host: PluginHost(
                    store: MemoryStore(clock: .system), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            )
            #expect(ends.all == [])
            try engine.replacePolicies(Self.policies("c"))
            #expect(Set(ends.all) == ["the instance a", "the instance b"])
            try engine.replacePolicies(
                .load([PolicyFile(name: "a.yaml", text: "projects: [{number: 1, id: a, apps: []}]")]))
            #expect(Set(ends.all) == ["the instance a", "the instance b", "the instance c", "the cache"])
        }
    }

    @Test("Plugins of other names and objects of other names are apart")
    func apart() {
        var host = PluginHost(store: MemoryStore(clock: .system), logger: Logger(label: "test"))
        let ends = Ends()
        let first = host.sharedObject("a") { Watched("a", ends) }
        #expect(host.sharedObject("a") { Watched("again", ends) } === first)
        #expect(host.sharedObject("b") { Watched("b", ends) } !== first)
        host.space = StateSpace("other", in: host.store)
        #expect(host.sharedObject("a") { Watched("other", ends) } !== first)
    }
}
