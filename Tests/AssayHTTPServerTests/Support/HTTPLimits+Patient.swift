import AssayCore
import AssayHTTP
import AssayHTTPServer

extension HTTPLimits {
    /// The limits that hold by themselves, but for those on time: a busy machine may be slower than any client.
    static var patient: HTTPLimits {
        var limits = HTTPLimits()
        limits.headTime = .seconds(600)
        limits.bodyTime = .seconds(600)
        limits.idleTime = .seconds(600)
        limits.queueTime = nil
        limits.drainTime = .seconds(600)
        return limits
    }
}
