internal import AssayCore
internal import AssayKit
internal import Synchronization

/// What one call of a plugin has used of its limits.
package final class CallBudget: Sendable {
    /// The call that the present task belongs to; nil outside of calls, such as in maintenance.
    @TaskLocal package static var current: CallBudget?

    private let outboundCalls = Atomic(0)
    private let storeWrites = Atomic(0)
    private let cpuNanoseconds = Atomic(0)

    /// Counts a call to another server; returns whether it is allowed.
    func takesOutboundCall(_ limits: PluginLimits) -> Bool {
        outboundCalls.wrappingAdd(1, ordering: .relaxed).newValue <= limits.outboundCalls
    }

    /// Counts a write to the state store; returns whether it is allowed.
    func takesStoreWrite(_ limits: PluginLimits) -> Bool {
        storeWrites.wrappingAdd(1, ordering: .relaxed).newValue <= limits.storeWrites
    }

    /// Adds CPU time; returns whether the call has just gone beyond its limit.
    func exceedsCPU(adding nanoseconds: Int, _ limits: PluginLimits) -> Bool {
        let (before, after) = cpuNanoseconds.wrappingAdd(nanoseconds, ordering: .relaxed)
        let most = limits.cpuTime.wholeNanoseconds
        return before <= most && after > most
    }
}

extension Duration {
    /// Whole nanoseconds, at most those of 292 years.
    var wholeNanoseconds: Int {
        let (seconds, attoseconds) = components
        let (product, overflow) = Int(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : product + Int(attoseconds / 1_000_000_000)
    }
}
