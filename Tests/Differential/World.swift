import AssayCore
import AssayCustomBackend
@testable import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Synchronization

/// A server without a transport under one set of policies, and what it puts on record.
final class World: DecisionSink {
    let policies: PolicySet
    private let engine: Engine
    private let kept = Mutex<DecisionRecord?>(nil)

    static let registry: Registry = {
        do {
            return try Registry([
                .provider(NotaryProvider.self), .provider(SketchProvider.self), .consumer(CustomBackendConsumer.self),
            ])
        } catch {
            fatalError("\(error)")
        }
    }()

    /// - Throws: the problems of the policies.
    init(_ text: String, keys: KeyStore, clock: ManualClock) throws {
        policies = Self.registry.effective(PolicySet.read([PolicyFile(name: "p.yaml", text: text)]))
        let host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let box = Box()
        engine = try Engine(registry: Self.registry, policies: policies, keys: keys, host: host, sink: box)
        box.world.withLock { $0 = self }
    }

    /// Gives records to the world that was made after it.
    private final class Box: DecisionSink {
        let world = Mutex<World?>(nil)

        func record(_ record: DecisionRecord) { world.withLock { $0 }?.record(record) }
    }

    func record(_ record: DecisionRecord) { kept.withLock { $0 = record } }

    /// Answers a request, and returns its line of the audit file; nil for a request that leaves no record.
    func answer(_ request: Request) async -> (reply: JSON?, line: [UInt8]?) {
        kept.withLock { $0 = nil }
        let reply: JSON?
        switch request.kind {
        case .call(let call): reply = try? await engine.handle(call).result.get()
        case .protected(let request):
            if case .success = await engine.protect(request).result { reply = [:] } else { reply = nil }
        }
        // Without the end of the line.
        return (reply, kept.withLock { $0 }.map { Array(AuditLine.encode($0).dropLast()) })
    }
}

/// One request, with what tools are told of it.
struct Request: Sendable {
    enum Kind: Sendable {
        case call(Call)
        case protected(ProtectedRequest)
    }

    let kind: Kind
    /// The name of the caller whose token it has.
    var caller: String?
    /// The App Check token that it has.
    var token: Token?
    /// The proxy's request and the backend.
    var proxied: (line: String, backend: String)?

    struct Token: Sendable {
        let text: String
        let app: String
        let provider: String
        let isLimitedUse: Bool
    }

    init(_ call: Call, caller: String? = nil, token: Token? = nil, proxied: (String, String)? = nil) {
        kind = .call(call)
        self.caller = caller
        self.token = token
        self.proxied = proxied.map { (line: $0.0, backend: $0.1) }
    }

    init(_ request: ProtectedRequest, token: Token?) {
        kind = .protected(request)
        self.token = token
    }

    var call: Call? { if case .call(let call) = kind { call } else { nil } }
}
