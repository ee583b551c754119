import AssayCore
import AssayKit
import Synchronization

/// A kernel that answers as a test wants, and remembers what it was asked.
final class ScriptedHandler: CallHandler {
    let methods: [MethodDescriptor]
    private let answer: @Sendable (Call) async -> Result<JSON, CallFailure>
    private let recorded = Mutex<[Call]>([])
    private let state: Mutex<Readiness>

    init(
        methods: [MethodDescriptor] = [.verifyRequest()], readiness: Readiness = .ready,
        answer: @escaping @Sendable (Call) async -> Result<JSON, CallFailure> = { _ in .success([:]) }
    ) {
        self.methods = methods
        self.answer = answer
        state = Mutex(readiness)
    }

    /// What it was asked so far.
    var calls: [Call] { recorded.withLock { $0 } }

    var readiness: Readiness {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func handle(_ call: Call) async -> Reply {
        recorded.withLock { $0.append(call) }
        return Reply(decision: DecisionID(text: "01DECISION"), result: await answer(call))
    }
}

extension MethodDescriptor {
    /// The method that decides, as the consumer of custom backends declares it.
    static func verifyRequest(takesToken: Bool = true) -> MethodDescriptor {
        var method = MethodDescriptor(name: "verifyRequest", kind: .call(nil), resources: [], rules: [])
        method.takesToken = takesToken
        method.binding = HTTPBinding(
            replyHeaders: [
                .init("x-appcheck-app-id", "appId"), .init("x-appcheck-jti", "jti"),
                .init("x-appcheck-provider", "provider"), .init("x-appcheck-consumed", "consumed"),
            ], proxied: .init(method: "method", target: "uri", backend: "backend"))
        return method
    }
}
