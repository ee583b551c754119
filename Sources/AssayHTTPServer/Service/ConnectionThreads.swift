internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The threads that connections are read on, and most requests answered: one for each processor that the process may
/// use.
package enum ConnectionThreads {
    /// How many there are.
    package static var count: Int { NIOSingletons.groupLoopCountSuggestion }

    /// Makes fewer of them when the process is bound to fewer processors than the machine or the container has: NIO does
    /// not look at that.
    ///
    /// It is called before the first connection. The environment's own `NIO_SINGLETON_GROUP_LOOP_COUNT` stays.
    package static func limit(toProcessors usable: Int) {
        guard usable > 0, usable < System.coreCount else { return }
        setenv("NIO_SINGLETON_GROUP_LOOP_COUNT", "\(usable)", 0)
    }
}
