internal import NIOCore

/// The timer of a connection, which waits for different events many times a second.
///
/// Postponing it costs nothing: when the timer that is already set fires too early, it is set again for the rest of the
/// time. So a busy connection sets a timer now and then, not several for each request.
///
/// Use it only on its event loop.
final class WaitTimer {
    private let eventLoop: any EventLoop
    private var expire: (() -> Void)?
    /// When the time is over; nil while nothing is waited for.
    private var due: NIODeadline?
    private var alarm: (at: NIODeadline, task: Scheduled<Void>)?

    /// - Parameter expire: called when the time is over. It is kept until ``stop()``.
    init(_ eventLoop: any EventLoop, expire: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.expire = expire
    }

    /// Begins to wait, instead of for the previous event; stops waiting when the limit is nil.
    func start(_ limit: Duration?) {
        guard let limit else {
            due = nil
            return
        }
        let due = eventLoop.now + TimeAmount(limit)
        self.due = due
        if let alarm {
            guard due < alarm.at else { return }
            alarm.task.cancel()
        }
        setAlarm(due)
    }

    /// Stops waiting, and releases the closure.
    func stop() {
        due = nil
        expire = nil
        alarm?.task.cancel()
        alarm = nil
    }

    private func setAlarm(_ time: NIODeadline) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        alarm = (time, eventLoop.scheduleTask(deadline: time) { bound.value.ring() })
    }

    private func ring() {
        alarm = nil
        guard let due else { return }
        guard due <= eventLoop.now else {
            setAlarm(due)
            return
        }
        self.due = nil
        expire?()
    }
}

/// The events that a connection waits for, each with a time limit.
enum Wait: Sendable, Hashable {
    /// The kernel's answer, which has its own deadlines.
    case answer
    /// The first byte of the first request.
    case firstByte
    /// The first byte of another request.
    case nextByte
    /// The rest of a request's head.
    case head
    /// The rest of a request's body.
    case body
    /// The client to take a reply.
    case delivery
    /// The client to close, after the last reply.
    case leave

    func limit(_ limits: HTTPLimits) -> Duration? {
        switch self {
        case .answer: nil
        case .firstByte, .head: limits.headTime
        case .nextByte, .delivery: limits.idleTime
        case .body: limits.bodyTime
        case .leave: limits.lingerTime
        }
    }
}
