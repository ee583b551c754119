import AssayCore
import AssayCustomBackend
import AssayOAuthClient
@testable import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Synchronization

/// A server without a transport under one set of policies, and what it puts on record.
final class World {
    /// One answer with all that is recorded of it.
    struct Answer {
        /// Nil for a request that was not answered.
        let reply: JSON?
        /// Nil for a request that leaves no record.
        let record: DecisionRecord?
        let evidence: CapturedEvidence?

        /// The line of the audit file, without its end.
        var line: [UInt8]? { record.map { Array(AuditLine.encode($0).dropLast()) } }
    }

    /// Keeps what belongs to the last answer.
    private final class LastAnswer: DecisionSink, EvidenceSink {
        private let state = Mutex<(record: DecisionRecord?, evidence: CapturedEvidence?)>((nil, nil))

        func begin() { state.withLock { $0 = (nil, nil) } }

        func record(_ record: DecisionRecord) { state.withLock { $0.record = record } }

        func add(of app: ExactText, peer: String?, _ target: CaptureTarget, _ evidence: () -> CapturedEvidence) {
            let evidence = evidence()
            state.withLock { $0.evidence = evidence }
        }

        func tidy(_ limits: CaptureLimits) {}

        var last: (record: DecisionRecord?, evidence: CapturedEvidence?) { state.withLock { $0 } }
    }

    private let engine: Engine
    private let kept = LastAnswer()

    static let registry: Registry = {
        do {
            return try Registry(
                [
                    .provider(NotaryProvider.self), .provider(SketchProvider.self),
                    .consumer(CustomBackendConsumer.self),
                    .consumer(OAuthClientConsumer.self),
                ], administration: .api)
        } catch {
            fatalError("\(error)")
        }
    }()

    /// The tokens of callers whose policies refer to them.
    static let secrets = SecretSource { reference in
        guard case .environment(let name) = reference.place else { return nil }
        return Array(RandomValues.token(of: name, 0).utf8)
    }

    /// Policies as an operator's tools and a server see them.
    static func policies(_ text: String) -> PolicySet {
        registry.effective(PolicySet.read([PolicyFile(name: "p.yaml", text: text)]))
    }

    /// - Throws: the problems of the policies.
    init(_ policies: PolicySet, keys: KeyStore, clock: ManualClock) throws {
        var host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        host.secrets = Self.secrets
        engine = try Engine(
            registry: Self.registry, policies: policies, keys: keys, host: host, sink: kept,
            options: Engine.Options(evidence: kept))
    }

    /// Changes the policies while the server runs.
    ///
    /// - Throws: the problems of the policies; the present ones then stay in force.
    func replace(_ policies: PolicySet) throws { try engine.replacePolicies(policies) }

    /// Answers a request.
    func answer(_ request: Request) async -> Answer {
        kept.begin()
        let reply: JSON?
        switch request.kind {
        case .call(let call): reply = try? await engine.handle(call).result.get()
        case .protected(let request):
            if case .success = await engine.protect(request).result { reply = [:] } else { reply = nil }
        }
        let last = kept.last
        return Answer(reply: reply, record: last.record, evidence: last.evidence)
    }
}
