import AssayKit
import Synchronization

/// A kernel that answers as a test wants, and remembers what it was asked.
final class FakeHandler: CallHandler {
    static let exchanges = [
        MethodDescriptor(name: "exchangeDebugToken", kind: .exchange(.alone), resources: [.app, .oauthClient]),
        MethodDescriptor(name: "generateAppAttestChallenge", kind: .challenge, resources: [.app]),
        MethodDescriptor(name: "jwks", kind: .keySet, resources: []),
    ]
    let methods: [MethodDescriptor]
    let readiness: Readiness
    private let answer: @Sendable (Call) async -> Result<JSON, CallFailure>
    private let recorded = Mutex<[Call]>([])

    init(
        methods: [MethodDescriptor] = FakeHandler.exchanges, readiness: Readiness = .ready,
        answer: @escaping @Sendable (Call) async -> Result<JSON, CallFailure> = { .success(FakeHandler.echo($0)) }
    ) {
        self.methods = methods
        self.readiness = readiness
        self.answer = answer
    }

    var calls: [Call] { recorded.withLock { $0 } }

    func handle(_ call: Call) async -> Reply {
        recorded.withLock { $0.append(call) }
        return Reply(decision: DecisionID(text: "01DECISION"), result: await answer(call))
    }

    static func echo(_ call: Call) -> JSON {
        [
            "method": .string(call.method), "version": .string(call.version.rawValue),
            "resource": .string(call.resource), "body": call.body,
        ]
    }
}
