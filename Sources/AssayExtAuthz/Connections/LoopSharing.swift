internal import AssayCore
internal import AssayHTTPServer
internal import NIOCore
internal import Synchronization

/// Shares an event loop between the peers of its connections (``LoopShares``), at the pace of the threads that do the calls.
///
/// What costs the server most is what follows from a frame: the work on the event loop while it is read, and the tasks that gRPC's
/// library begins for it. The former is measured. The latter are not seen from here, so a round waits when those of earlier rounds
/// have not begun.
///
/// Bound to its event loop.
final class LoopSharing {
    /// Those of all event loops.
    final class All: Sendable {
        private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<LoopSharing>]>([:])
        private let priority: TaskPriority

        /// - Parameter priority: that of the tasks which work on calls.
        init(priority: TaskPriority) {
            self.priority = priority
        }

        /// That of an event loop, on whose thread it is called.
        func of(_ eventLoop: any EventLoop) -> LoopSharing {
            loops.withLock { loops in
                if let known = loops[ObjectIdentifier(eventLoop)] { return known }
                // Without a reference to this object, which would keep both.
                let sharing = LoopSharing(eventLoop) { [priority] in All.after(priority, $0) }
                let new = NIOLoopBound(sharing, eventLoop: eventLoop)
                loops[ObjectIdentifier(eventLoop)] = new
                return new
            }.value
        }

        /// Calls back when the tasks that wait now have begun, and what they began at once.
        private static func after(_ priority: TaskPriority, _ done: @escaping @Sendable () -> Void) {
            Task.detached(priority: priority) {
                await Task.yield()
                done()
            }
        }
    }

    /// So many rounds may be ahead of the tasks: while the last one is read, the threads have those of the round before.
    private static let mostAhead = 2

    private let eventLoop: any EventLoop
    private let clock: () -> Int
    private let afterTasks: (@escaping @Sendable () -> Void) -> Void
    private var shares = LoopShares()
    private var waiting: [ObjectIdentifier: () -> Void] = [:]
    private var isScheduled = false
    private var ahead = 0
    /// The work that is being measured, and when it began.
    private var began: Int?

    /// - Parameters:
    ///   - clock: the time that the thread has used, in nanoseconds.
    ///   - afterTasks: calls back, on any thread, when the tasks that wait now have begun.
    init(
        _ eventLoop: any EventLoop, clock: @escaping () -> Int = { ThreadTime.nanoseconds },
        after afterTasks: @escaping (@escaping @Sendable () -> Void) -> Void
    ) {
        self.eventLoop = eventLoop
        self.clock = clock
        self.afterTasks = afterTasks
    }

    func open(_ peer: PeerGroup) {
        shares.open(peer)
    }

    func close(_ connection: ObjectIdentifier, of peer: PeerGroup) {
        waiting[connection] = nil
        shares.close(connection, of: peer)
    }

    /// Works for a connection, and counts the time for its peer.
    func work(for peer: PeerGroup, _ body: () -> Void) {
        // Work within other work is counted with it.
        guard began == nil else { return body() }
        let start = clock()
        began = start
        body()
        began = nil
        shares.use(.nanoseconds(Int64(clock() - start)), by: peer)
    }

    /// Whether a connection may go on with what it has read.
    ///
    /// If not, `resume` is called later.
    func mayContinue(_ connection: ObjectIdentifier, of peer: PeerGroup, orLater resume: @escaping () -> Void) -> Bool {
        guard waiting[connection] == nil else { return false }
        let used = began.map { clock() - $0 } ?? 0
        guard !shares.mayContinue(peer, after: .nanoseconds(Int64(used))) else { return true }
        waiting[connection] = resume
        shares.wait(connection, of: peer)
        schedule(after: .nanoseconds(Int64(used)))
        return false
    }

    /// The next round comes after what all connections have sent meanwhile.
    private func schedule(after time: TimeAmount) {
        guard !isScheduled, ahead < Self.mostAhead, shares.isAnyWaiting else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: .pause(after: time)) {
            bound.value.isScheduled = false
            bound.value.round()
        }
    }

    private func round() {
        guard shares.isAnyWaiting else { return }
        let start = clock()
        ahead += 1
        shares.beginRound()
        while let connection = shares.next() { waiting.removeValue(forKey: connection)?() }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        afterTasks { [eventLoop] in
            eventLoop.execute {
                bound.value.ahead -= 1
                bound.value.schedule(after: .nanoseconds(0))
            }
        }
        schedule(after: .nanoseconds(Int64(clock() - start)))
    }
}
