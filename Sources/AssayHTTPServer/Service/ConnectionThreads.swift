internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The threads that connections are read on, and most requests answered: one for each processor that the process may
/// use.
package struct ConnectionThreads: Sendable {
    private struct Thread {
        let executor: EventLoopExecutor
        let gate: OverloadGate?
    }

    private let threads: [ObjectIdentifier: Thread]

    /// - Parameter longestWait: how long requests may wait while they are too many; nil for any time.
    init(longestWait: Duration?) {
        var threads: [ObjectIdentifier: Thread] = [:]
        for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            // One that is overloaded does not refuse the requests of another.
            threads[ObjectIdentifier(eventLoop)] = Thread(
                executor: EventLoopExecutor(eventLoop),
                gate: longestWait.map { OverloadGate(limit: $0, threads: 1) })
        }
        self.threads = threads
    }

    /// Whether other threads can share the work of one connection.
    var areSeveral: Bool { threads.count > 1 }

    /// What runs the tasks of a connection; nil for an event loop of a test.
    func executor(of channel: any Channel) -> EventLoopExecutor? {
        threads[ObjectIdentifier(channel.eventLoop)]?.executor
    }

    /// What refuses requests of the connections that are read on the same thread.
    func gate(of channel: any Channel) -> OverloadGate? {
        threads[ObjectIdentifier(channel.eventLoop)]?.gate
    }

    /// How many requests were refused.
    var refused: Int { threads.values.reduce(0) { $0 + ($1.gate?.refused ?? 0) } }

    /// Makes fewer threads when the process is bound to fewer processors than the machine or the container has: NIO does
    /// not look at that.
    ///
    /// It is called before the first connection. The environment's own `NIO_SINGLETON_GROUP_LOOP_COUNT` stays.
    package static func limit(toProcessors usable: Int) {
        guard usable > 0, usable < System.coreCount else { return }
        setenv("NIO_SINGLETON_GROUP_LOOP_COUNT", "\(usable)", 0)
    }
}
