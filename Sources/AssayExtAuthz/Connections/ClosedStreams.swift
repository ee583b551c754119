internal import NIOCore
internal import Synchronization

/// The streams of one connection that were closed before a service had a call of them, and that gRPC's library has not let go: it
/// begins a task for each stream, also for one that its client has reset meanwhile, and has no limit on those that wait for a thread.
///
/// A client could so make the process hold any number of them. While there are many, nothing more is read of the connection.
///
/// Bound to the event loop of its connection.
final class ClosedStreams {
    /// Those of all connections.
    final class Total: Sendable {
        private let count = Atomic(0)

        fileprivate func add(_ change: Int) {
            count.add(change, ordering: .relaxed)
        }

        var value: Int { count.load(ordering: .relaxed) }
    }

    private struct Stream {
        /// The library holds the channel as long as it works on the stream.
        weak var channel: (any Channel)?
    }

    /// The most of a connection, and of all of them; beyond the latter, a connection may have a few.
    static let most = 64
    static let mostOfAll = 1024
    static let few = 4

    /// Between two looks: soon, and more and more rarely while the library lets none go.
    private static let shortest = TimeAmount.milliseconds(2)
    private static let longest = TimeAmount.milliseconds(128)

    private let total: Total
    private let eventLoop: any EventLoop
    private let onLess: () -> Void
    private var streams: [Stream] = []
    private var timer: Scheduled<Void>?
    private var interval = shortest

    /// - Parameter onLess: called when there may be fewer, as long as there are some.
    init(_ total: Total, eventLoop: any EventLoop, onLess: @escaping () -> Void) {
        self.total = total
        self.eventLoop = eventLoop
        self.onLess = onLess
    }

    /// Whether more may be read of the connection.
    var mayRead: Bool {
        guard streams.count >= Self.few else { return true }
        sweep()
        return streams.count < Self.most && (streams.count < Self.few || total.value < Self.mostOfAll)
    }

    /// A stream is closed.
    func add(_ channel: any Channel) {
        streams.append(Stream(channel: channel))
        total.add(1)
        schedule()
    }

    /// - Returns: whether there are fewer.
    @discardableResult
    private func sweep() -> Bool {
        let before = streams.count
        streams.removeAll { $0.channel == nil }
        total.add(streams.count - before)
        return streams.count < before
    }

    /// Looks again until there are none, also when the connection is over.
    private func schedule() {
        guard timer == nil else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: interval) {
            let closed = bound.value
            closed.timer = nil
            closed.interval = closed.sweep() ? Self.shortest : min(closed.interval * 2, Self.longest)
            closed.onLess()
            if !closed.streams.isEmpty { closed.schedule() }
        }
    }
}
