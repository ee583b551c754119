public import AssayCore
public import AssayKit
import Synchronization

/// A kernel that answers as a test wants, and remembers what it was asked.
public final class FakeHandler: CallHandler {
    /// Methods of three kinds: an exchange, a challenge and the key set.
    public static let exchanges = [
        MethodDescriptor(name: "exchangeDebugToken", kind: .exchange(.alone), resources: [.app, .oauthClient]),
        MethodDescriptor(name: "generateAppAttestChallenge", kind: .challenge, resources: [.app]),
        MethodDescriptor(name: "jwks", kind: .keySet, resources: []),
    ]
    /// The methods that it offers.
    public let methods: [MethodDescriptor]
    /// The readiness that it reports.
    public let readiness: Readiness
    /// How long caches may keep its replies.
    private let lifetime: Duration?
    private let answer: @Sendable (Call) async -> Result<JSON, CallFailure>
    private let recorded = Mutex<[Call]>([])

    /// Makes a handler that answers each call with `answer`.
    public init(
        methods: [MethodDescriptor] = FakeHandler.exchanges, readiness: Readiness = .ready, lifetime: Duration? = nil,
        answer: @escaping @Sendable (Call) async -> Result<JSON, CallFailure> = { .success(FakeHandler.echo($0)) }
    ) {
        self.methods = methods
        self.readiness = readiness
        self.lifetime = lifetime
        self.answer = answer
    }

    /// The calls so far.
    public var calls: [Call] { recorded.withLock { $0 } }

    /// Records the call and answers it.
    public func handle(_ call: Call) async -> Reply {
        recorded.withLock { $0.append(call) }
        return Reply(decision: DecisionID(text: "01DECISION"), result: await answer(call), lifetime: lifetime)
    }

    /// A reply that repeats the call.
    public static func echo(_ call: Call) -> JSON {
        [
            "method": .string(call.method), "version": .string(call.version.rawValue),
            "resource": .string(call.resource), "body": call.body,
        ]
    }
}
