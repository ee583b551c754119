public import AssayCore

/// What a transport needs from the kernel: the methods to route by, and an answer to each call.
public protocol CallHandler: Sendable {
    /// The methods of the kernel and of every registered plugin, whether or not a policy uses them.
    var methods: [MethodDescriptor] { get }

    /// Answers a call; any error is a `CallFailure` in the reply.
    ///
    /// A server may call it on a thread that reads connections: it must not block the thread.
    func handle(_ call: Call) async -> Reply

    /// Whether calls can be answered now; the reason in words when not.
    var readiness: Readiness { get async }

    /// The revision of the policies in force, for operators; by default it is unknown.
    var revision: PolicyRevision? { get }

    /// The health of each plugin, for operators; by default there are none.
    var pluginHealth: [PluginHealth] { get }
}

extension CallHandler {
    /// Unknown.
    public var revision: PolicyRevision? { nil }

    /// No plugins.
    public var pluginHealth: [PluginHealth] { [] }
}

/// Whether a service can do its work.
@nonexhaustive public enum Readiness: Sendable, Equatable {
    case ready
    /// The service works, but needs an operator: the reason in words.
    case degraded(String)
    case notReady(String)

    /// Compares the explanations by their UTF-8 bytes.
    public static func == (left: Readiness, right: Readiness) -> Bool {
        switch (left, right) {
        case (.ready, .ready): true
        case (.degraded(let left), .degraded(let right)), (.notReady(let left), .notReady(let right)):
            left.isExactly(right)
        default: false
        }
    }
}
