/// What the kernel allows a plugin: in one call, and by all of its calls at a time.
///
/// What goes beyond is refused or cancelled, counted in `assay_plugin_limits_exceeded_total`, and harms no other plugin.
public struct PluginLimits: Sendable, Hashable {
    /// The bytes of all texts and decoded bytes of a request that the plugin reads, together.
    ///
    /// A larger request is refused before the plugin sees it.
    public var evidence: Int
    /// The time of a call, at most the engine's own limit; nil for the engine's own.
    ///
    /// The caller is answered then, also when the plugin ignores its cancellation.
    public var time: Duration?
    /// The CPU time of a call.
    public var cpuTime: Duration
    /// The calls that run at a time, in all apps and projects; further ones are told to try again.
    public var concurrentCalls: Int
    /// The calls to other servers in one call.
    public var outboundCalls: Int
    /// The writes to the state store in one call.
    public var storeWrites: Int
    /// The bytes of a reply, as JSON.
    public var reply: Int
    /// How long JWTs that a consumer lets the kernel sign are valid: their `exp`, at most seven days from now.
    ///
    /// One without `exp`, or with a later one, is a fault of the consumer, and is not signed.
    public var tokenLifetime: Duration

    /// Makes limits; the defaults suit most plugins.
    ///
    /// `evidence` and `reply` are bytes.
    public init(
        evidence: Int = 32 * 1024, time: Duration? = nil, cpuTime: Duration = .seconds(1), concurrentCalls: Int = 256,
        outboundCalls: Int = 8, storeWrites: Int = 16, reply: Int = 64 * 1024,
        tokenLifetime: Duration = .seconds(7 * 86_400)
    ) {
        self.evidence = evidence
        self.time = time
        self.cpuTime = cpuTime
        self.concurrentCalls = concurrentCalls
        self.outboundCalls = outboundCalls
        self.storeWrites = storeWrites
        self.reply = reply
        self.tokenLifetime = tokenLifetime
    }
}

/// The threads that the calls of a plugin run on.
@nonexhaustive public enum PluginExecution: Sendable, Hashable {
    /// A few threads of the plugin's own: a plugin that blocks them delays only itself.
    case isolated
    /// The threads that all of the process shares, which saves a few microseconds a call: only for plugins that never
    /// block a thread, and whose computations are short.
    case shared
}
