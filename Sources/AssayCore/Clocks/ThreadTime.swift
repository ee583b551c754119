#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
internal import SwiftOverlayShims
#endif

/// What threads use of the processor, however busy the machine is otherwise.
package enum ThreadTime {
    /// The time of the processor that the current thread has used since its start.
    package static var nanoseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }
}
