import AssayCore
import AssayEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import Logging
import Synchronization
import Testing

/// A provider that asks a server, with or without a key of idempotency.
private struct AskingProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        let idempotent: Bool
    }

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let refused = Reason("asking_refused", "The server says no.")
    static let descriptor = PluginDescriptor.provider(
        name: "asking", summary: "What a server says.", reasons: [refused], metrics: UpstreamInquiry.metrics,
        limits: PluginLimits(outboundCalls: UpstreamInquiry.callsPerQuestion))
    static let methods: [ProviderMethod<AskingProvider>] = [
        .exchange("exchangeQuestion") { (provider, _: Request, context) in
            let verdict = try await provider.inquiry.ask(
                about: "\(context.decision)", context, isIdempotent: provider.isIdempotent
            ) { _ in
                OutboundRequest(.get, Self.server)
            } read: { response -> UpstreamVerdict<Bool> in
                switch response.status {
                case 200: .genuine(true)
                case 404: .refused(detail: nil)
                default: throw UpstreamFailure(response)
                }
            }
            return switch verdict {
            case .genuine: .verified(Appraisal(facts: []))
            case .refused: .refused(refused)
            }
        }
    ]
    static var server: EndpointURL {
        EndpointURL("https://server.example.com/") ?? { preconditionFailure("a URL") }()
    }

    let isIdempotent: Bool
    let inquiry: UpstreamInquiry

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {
        isIdempotent = configuration.idempotent
        inquiry = UpstreamInquiry(of: Self.server, host: host)
    }

    var problem: String? { inquiry.problem }
}

@Suite("Questions to a server about evidence")
struct UpstreamInquiryTests {
    private enum Answer: Sendable {
        case status(Int)
        case failure(OutboundFailure.Code)
    }

    private final class Server: OutboundHTTP {
        private let answers: Mutex<[Answer]>
        private let limits = Mutex<[Duration]>([])

        init(_ answers: [Answer]) {
            self.answers = Mutex(answers)
        }

        var timeLimits: [Duration] { limits.withLock { $0 } }

        func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
            limits.withLock { $0.append(request.timeLimit) }
            switch answers.withLock({ $0.isEmpty ? .status(500) : $0.removeFirst() }) {
            case .status(let status): return OutboundResponse(status: status)
            case .failure(let code): throw OutboundFailure(code, "a test")
            }
        }
    }

    private func ask(_ answers: [Answer], isIdempotent: Bool) async throws -> (reply: Reply, server: Server) {
        let server = Server(answers)
        let engine = try TestEngine(
            [.provider(AskingProvider.self)],
            policy: TestEngine.policy(providers: "asking: {idempotent: \(isIdempotent)}"), http: server)
        let reply = Task { await engine.call("exchangeQuestion", TestEngine.app) }
        let ticking = Task {
            while !Task.isCancelled {
                engine.clock.advance(by: .milliseconds(100))
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { ticking.cancel() }
        return (await reply.value, server)
    }

    @Test("After a lost answer, only a question with a key of idempotency is put again", arguments: [true, false])
    func lostAnswer(isIdempotent: Bool) async throws {
        let (reply, server) = try await ask([.failure(.interrupted), .status(200)], isIdempotent: isIdempotent)
        let isIssued = (try? reply.result.get()) != nil
        #expect(isIssued == isIdempotent)
        #expect(server.timeLimits.count == (isIdempotent ? 2 : 1))
        // Time is left for another try.
        #expect(server.timeLimits.first.map { $0 < .seconds(5) } == isIdempotent)
    }

    @Test("A refusal after a failed try counts only with a key of idempotency", arguments: [true, false])
    func refusalAfterFailure(isIdempotent: Bool) async throws {
        let (reply, server) = try await ask([.status(503), .status(404)], isIdempotent: isIdempotent)
        guard case .failure(let failure) = reply.result else {
            Issue.record("issued")
            return
        }
        #expect(failure.reason == (isIdempotent ? AskingProvider.refused : nil))
        #expect(failure.status == (isIdempotent ? .permissionDenied : .unavailable))
        #expect(server.timeLimits.count == 2)
    }

    @Test("A refused credential is a problem until one is accepted")
    func problem() async throws {
        let server = Server([.status(401), .status(200)])
        let clock = ManualClock()
        let store = MemoryStore(clock: clock.hostClock)
        let host = PluginHost(
            clock: clock.hostClock, store: store, http: server,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let inquiry = UpstreamInquiry(of: AskingProvider.server, host: host)
        let app = AppIdentity(
            resource: "projects/1/apps/a", kind: .app, project: ProjectIdentity(number: "1", id: "one"), subject: "a",
            platforms: [])
        func ask() async {
            _ = try? await inquiry.ask(about: "a", .testing(app, store: store, clock: clock.hostClock)) { _ in
                OutboundRequest(.get, AskingProvider.server)
            } read: { response -> UpstreamVerdict<Bool> in
                guard response.status == 200 else { throw UpstreamFailure(response) }
                return .genuine(true)
            }
        }
        #expect(inquiry.problem == nil)
        await ask()
        #expect(inquiry.problem?.contains("server.example.com") == true)
        await ask()
        #expect(inquiry.problem == nil)
    }
}
