internal import AssayCore

/// A plugin broke its contract: nothing that it decided counts.
package struct PluginFault: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// A plugin went beyond one of its limits, or must not be called now.
package struct PluginLimitExceeded: Error, CustomStringConvertible {
    /// The value of the metric's label.
    enum Limit: String, Sendable, CaseIterable {
        case time
        case cpuTime = "cpu_time"
        case concurrentCalls = "concurrent_calls"
        case outboundCalls = "outbound_calls"
        case storeWrites = "store_writes"
    }

    let limit: Limit
    package let description: String
    /// When another try makes sense.
    var retryAfter = Duration.seconds(5)
}

/// A plugin that kept failing is not called for a while.
struct PluginResting: Error, CustomStringConvertible {
    let plugin: String
    let retryAfter: Duration

    var description: String { "the plugin \(plugin) kept failing, and is not called for a while" }
}
