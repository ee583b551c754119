public import AssayKit

/// A handler without its methods: what a listener needs that shows nothing but pages about it.
public struct PagesOnly: CallHandler {
    private let handler: any CallHandler

    public init(_ handler: any CallHandler) {
        self.handler = handler
    }

    public var methods: [MethodDescriptor] { [] }

    /// Not reached, for nothing is routed here; answered all the same.
    public func handle(_ call: Call) async -> Reply {
        Reply(
            decision: DecisionID(now: HostClock.system.now, randomness: .system),
            result: .failure(CallFailure(.notFound, "Method not found.")))
    }

    public var readiness: Readiness {
        get async { await handler.readiness }
    }
}
