import AssayClientGRPC
import GRPCCore
import GRPCInProcessTransport
import Synchronization
import Testing

@testable import AssayClient

@Suite("Calls over gRPC", .timeLimit(.minutes(5)))
struct InterceptorTests {
    /// What a call of the test's client becomes.
    private struct Outcome {
        let messages: [String]?
        let error: RPCError?
    }

    private static let refusal = OrdersService.refusal("AppCheck realm=\"assay\", error=\"invalid_token\"")

    /// Calls the service once, over the transport in the process.
    private func call(
        _ service: OrdersService, _ appCheck: AppCheck, _ messages: [String] = ["a"], metadata: Metadata = [:],
        token kind: ProtectedCalls.TokenKind = .session, security: AppCheckInterceptor.Security = .tls,
        policy: RPCExecutionPolicy? = AppCheckInterceptor.retryOnce, peer: String? = nil
    ) async throws -> Outcome {
        let config = ServiceConfig(
            methodConfig: [MethodConfig(names: [MethodConfig.Name(service: "")], executionPolicy: policy)])
        let transport = InProcessTransport(serviceConfig: config)
        var interceptors: [any ClientInterceptor] = [
            AppCheckInterceptor(appCheck: appCheck, token: kind, security: security)
        ]
        if let peer { interceptors.insert(OtherPeer(peer: peer), at: 0) }
        return try await withGRPCServer(transport: transport.server, services: [service]) { _ in
            try await withGRPCClient(transport: transport.client, interceptors: interceptors) { client in
                let request = StreamingClientRequest<String>(metadata: metadata) {
                    try await $0.write(contentsOf: messages)
                }
                do {
                    let echoed = try await client.bidirectionalStreaming(
                        request: request, descriptor: OrdersService.method, serializer: TextCoder(),
                        deserializer: TextCoder(), options: .defaults
                    ) { response in
                        var messages: [String] = []
                        for try await message in response.messages { messages.append(message) }
                        return messages
                    }
                    return Outcome(messages: echoed, error: nil)
                } catch {
                    return Outcome(messages: nil, error: try #require(error as? RPCError))
                }
            }
        }
    }

    /// An app with a token that is older than a minute.
    private func oldScene() async throws -> ClientScene {
        let scene = try ClientScene()
        _ = try await scene.appCheck.token()
        scene.clock.advance(by: .minutes(2))
        return scene
    }

    @Test("the token is in the metadata, in place of another one")
    func attaches() async throws {
        let scene = try ClientScene()
        let service = OrdersService()
        let outcome = try await call(
            service, scene.appCheck, ["a", "b"], metadata: ["X-Firebase-AppCheck": "old", "other": "kept"])
        #expect(outcome.messages == ["a", "b"])
        #expect(service.tokens == [[FakeToken.text(number: 1)]])
    }

    @Test("a refused token is replaced once, and the call is made again with all its messages")
    func replaces() async throws {
        let scene = try await oldScene()
        let service = OrdersService(reads: true) { $0 == [FakeToken.text(number: 1)] ? Self.refusal : nil }
        let outcome = try await call(service, scene.appCheck, ["a", "b", "c"])
        #expect(outcome.messages == ["a", "b", "c"])
        #expect(service.tokens == [[FakeToken.text(number: 1)], [FakeToken.text(number: 2)]])
    }

    @Test("a backend that refuses every token makes one more try, and not each call a fetch")
    func refusesAll() async throws {
        let scene = try await oldScene()
        let service = OrdersService { _ in Self.refusal }
        for tries in [2, 3] {
            let outcome = try await call(service, scene.appCheck)
            #expect(outcome.error?.code == .unauthenticated)
            #expect(service.tokens.count == tries)
            #expect(scene.service.requests.count == 2)
        }
    }

    @Test(
        "a failure that does not speak of the token is the program's to handle",
        arguments: [
            RPCError(code: .unauthenticated, message: ""), OrdersService.refusal("Bearer error=\"invalid_token\""),
            OrdersService.refusal("AppCheck realm=\"assay\""),
            OrdersService.refusal("AppChecks error=\"invalid_token\""),
            OrdersService.refusal("AppCheck error=\"invalid_token\"", .permissionDenied),
            OrdersService.refusal("AppCheck error=\"invalid_token\"", .unavailable),
        ])
    func otherFailures(error: RPCError) async throws {
        let scene = try await oldScene()
        let service = OrdersService { _ in error }
        #expect(try await call(service, scene.appCheck).error?.code == error.code)
        #expect(service.tokens.count == 1)
        #expect(scene.service.requests.count == 1)
    }

    @Test("without the policy for retries, the next call has the fresh token")
    func withoutPolicy() async throws {
        let scene = try await oldScene()
        let service = OrdersService { $0 == [FakeToken.text(number: 1)] ? Self.refusal : nil }
        #expect(try await call(service, scene.appCheck, policy: nil).error?.code == .unauthenticated)
        #expect(try await call(service, scene.appCheck, policy: nil).messages == ["a"])
        #expect(service.tokens.count == 2)
    }

    @Test("a stream whose first message the client no longer has is not tried again")
    func longStream() async throws {
        let scene = try await oldScene()
        let service = OrdersService(reads: true) { _ in Self.refusal }
        let outcome = try await call(service, scene.appCheck, (0..<200).map { "\($0)" })
        #expect(outcome.error?.code == .unauthenticated)
        #expect(service.tokens.count == 1)
    }

    @Test("a stream that the server has begun to answer is not tried again")
    func begunAnswer() async throws {
        let scene = try await oldScene()
        let service = OrdersService(answersFirst: true) { _ in Self.refusal }
        #expect(try await call(service, scene.appCheck).error?.code == .unauthenticated)
        #expect(service.tokens.count == 1)
    }

    @Test("tokens for one use are new for each call and each try")
    func limitedUse() async throws {
        let scene = try ClientScene()
        let isFirst = Mutex(true)
        let service = OrdersService { _ in
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? Self.refusal : nil
            }
        }
        for _ in 0..<2 {
            #expect(try await call(service, scene.appCheck, token: .limitedUse).messages == ["a"])
        }
        #expect(service.tokens.count == 3 && Set(service.tokens).count == 3)
        // At most one more try for each call.
        let refusing = OrdersService { _ in Self.refusal }
        #expect(try await call(refusing, scene.appCheck, token: .limitedUse).error?.code == .unauthenticated)
        #expect(refusing.tokens.count == 2)
    }

    @Test("there is one more try for each call, whatever the policy allows", arguments: [2, 5])
    func oneMoreTry(attempts: Int) async throws {
        let policy = RPCExecutionPolicy.retry(
            RetryPolicy(
                maxAttempts: attempts, initialBackoff: .milliseconds(1), maxBackoff: .milliseconds(1),
                backoffMultiplier: 1, retryableStatusCodes: [.unauthenticated]))
        for kind in [ProtectedCalls.TokenKind.limitedUse, .session] {
            let service = OrdersService { _ in Self.refusal }
            let outcome = try await call(service, try await oldScene().appCheck, token: kind, policy: policy)
            #expect(outcome.error?.code == .unauthenticated)
            #expect(service.tokens.count == 2)
        }
    }

    @Test(
        "without TLS a token is for this machine alone",
        arguments: [
            ("in-process:27182", true), ("unix:/run/orders.sock", true), ("ipv4:127.0.0.1:443", true),
            ("ipv4:127.1.2.3:80", true), ("ipv6:[::1]:443", true), ("ipv4:192.0.2.1:443", false),
            ("ipv4:12.7.0.0:443", false), ("ipv4:127.example.com:443", false), ("ipv6:[2001:db8::1]:443", false),
            ("ipv6:[::1:1]:443", false), ("<unknown>", false), ("", false), ("localhost:443", false),
        ])
    func security(peer: String, isSent: Bool) async throws {
        let scene = try ClientScene()
        let service = OrdersService()
        let outcome = try await call(service, scene.appCheck, security: .onlyThisMachine, peer: peer)
        #expect(service.tokens.count == (isSent ? 1 : 0))
        guard !isSent else { return }
        #expect(scene.service.requests.isEmpty)
        #expect(outcome.error?.code == .failedPrecondition)
        #expect((outcome.error?.cause as? AppCheckError)?.code == .insecure)
        // With TLS any peer gets it.
        #expect(try await call(service, scene.appCheck, security: .tls, peer: peer).messages == ["a"])
    }

    @Test("a token that cannot be had fails the call before anything is sent, and says why")
    func noToken() async throws {
        let scene = try ClientScene()
        let service = OrdersService()
        scene.service.next { _ in .error(403, "PERMISSION_DENIED", decision: "01KBH5DECISION") }
        let refused = try await call(service, scene.appCheck).error
        #expect(refused?.code == .failedPrecondition)
        let cause = try #require(refused?.cause as? AppCheckError)
        #expect(cause.code == .refused && cause.decision == "01KBH5DECISION")

        scene.clock.advance(by: .minutes(1))
        scene.service.next { _ in .error(503, "UNAVAILABLE") }
        #expect(try await call(service, scene.appCheck).error?.code == .unavailable)
        #expect(service.tokens.isEmpty)
    }
}

/// Says that calls go to another peer.
private struct OtherPeer: ClientInterceptor {
    let peer: String

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>, context: ClientContext,
        next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        var context = context
        context.remotePeer = peer
        return try await next(request, context)
    }
}

/// A service that sends back what it gets, refuses calls as a test says, and remembers their tokens.
private final class OrdersService: RegistrableRPCService {
    static let method = MethodDescriptor(fullyQualifiedService: "example.Orders", method: "Echo")

    private let reads: Bool
    private let answersFirst: Bool
    private let failure: @Sendable ([String]) -> RPCError?
    private let received = Mutex<[[String]]>([])

    /// - Parameters:
    ///   - reads: whether it reads all messages before it fails.
    ///   - answersFirst: whether it sends the head of its answer before it fails.
    init(
        reads: Bool = false, answersFirst: Bool = false,
        failure: @escaping @Sendable ([String]) -> RPCError? = { _ in nil }
    ) {
        self.reads = reads
        self.answersFirst = answersFirst
        self.failure = failure
    }

    /// The tokens of each call.
    var tokens: [[String]] { received.withLock { $0 } }

    static func refusal(_ challenge: String, _ code: RPCError.Code = .unauthenticated) -> RPCError {
        RPCError(code: code, message: "refused", metadata: ["www-authenticate": .string(challenge)])
    }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.method, deserializer: TextCoder(), serializer: TextCoder()) {
            [self] request, _ in
            let tokens = Array(request.metadata[stringValues: "x-firebase-appcheck"])
            received.withLock { $0.append(tokens) }
            let failure = failure(tokens)
            if let failure, !answersFirst {
                if reads { for try await _ in request.messages {} }
                throw failure
            }
            return StreamingServerResponse { writer in
                if let failure { throw failure }
                for try await message in request.messages { try await writer.write(message) }
                return [:]
            }
        }
    }
}

/// Messages that are text.
private struct TextCoder: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) throws -> Bytes { Bytes(Array(message.utf8)) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
