package import NIOCore
internal import Synchronization

/// Runs tasks on the thread of an event loop, in turn with its connections.
///
/// The requests of a connection are read, decided and answered on one thread: passing each request to another thread,
/// and its reply back, takes as long as a tenth of an exchange. What may block its thread runs elsewhere: isolated
/// plugins, and stores that are not `neverBlocks`, on threads of their own.
///
/// An event loop runs everything that was given to it before it looks at its connections again. So the tasks wait here,
/// and run for a slice of time at once.
final class EventLoopExecutor: TaskExecutor {
    private enum Work {
        case job(UnownedJob)
        case resumption(CheckedContinuation<Void, Never>)
    }

    private struct State {
        var work = CircularBuffer<Work>(initialCapacity: 64)
        /// Whether the event loop was told of the work.
        var isAnnounced = false
    }

    /// How long tasks run before connections are looked at.
    private static let slice = TimeAmount.milliseconds(1)

    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Lets all work that waits, and the connections if they have waited for a slice, come first.
    func giveWay() async {
        await withCheckedContinuation { add(.resumption($0)) }
    }

    /// Waits by the event loop's own clock, which costs less than `Task.sleep`; cancellation does not end it.
    func sleep(for time: Duration) async {
        await withCheckedContinuation { continuation in
            eventLoop.scheduleTask(in: TimeAmount(time)) { continuation.resume() }
        }
    }

    private func add(_ work: Work) {
        let isNew = state.withLock { state in
            state.work.append(work)
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
        if isNew { eventLoop.execute { self.run() } }
    }

    private func run() {
        let start = NIODeadline.now()
        while let work = next() {
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .resumption(let continuation): continuation.resume()
            }
            let time = NIODeadline.now() - start
            guard time < Self.slice else {
                eventLoop.scheduleTask(in: .pause(after: time)) { self.run() }
                return
            }
        }
    }

    private func next() -> Work? {
        state.withLock { state in
            let work = state.work.popFirst()
            if work == nil { state.isAnnounced = false }
            return work
        }
    }
}

extension TimeAmount {
    /// How long an event loop that has worked for some time looks at its connections before it works on.
    ///
    /// Work that is due after some time comes after what connections have sent meanwhile. But only if that time is not over when the
    /// event loop looks at its work again: so it grows with what the work took, which is long on a machine that is busy otherwise.
    package static func pause(after time: TimeAmount) -> TimeAmount {
        .nanoseconds(min(max(time.nanoseconds / 50, 20_000), 1_000_000))
    }
}
