internal import NIOCore

/// The alarm of a connection, which waits for one thing and then another many times a second.
///
/// To put it off costs nothing: the alarm that is set already finds out, when it goes off, that it is not due yet, and is
/// set again for the rest. So a busy connection sets one now and then, and not several for each request.
///
/// Only to be used on its event loop.
final class WaitTimer {
    private let eventLoop: any EventLoop
    private var expire: (() -> Void)?
    /// When the time is up; nil while there is nothing to wait for.
    private var due: NIODeadline?
    private var alarm: (at: NIODeadline, task: Scheduled<Void>)?

    /// - Parameter expire: called when the time is up. It is kept until ``stop()``.
    init(_ eventLoop: any EventLoop, expire: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.expire = expire
    }

    /// Begins to wait, in place of whatever was waited for; for nothing when the limit is nil.
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

    /// Waits for nothing any more, and lets go of whoever was to be told.
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

/// What a connection waits for, and for how long at most.
enum Wait: Sendable, Hashable {
    /// The kernel's answer, which has deadlines of its own.
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
