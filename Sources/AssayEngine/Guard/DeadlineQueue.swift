package import AssayCore
internal import Synchronization

/// The ends of the calls that run, with one timer for all of them: a timer for each call costs more than many calls do.
package final class DeadlineQueue: Sendable {
    /// The end of one call.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var calls: [UInt64: (at: Duration, end: @Sendable () -> Void)] = [:]
        var last: UInt64 = 0
        /// The present timer, and when it wakes.
        var timer: (task: Task<Void, Never>, at: Duration)?
    }

    private let clock: HostClock
    private let state = Mutex(State())

    package init(_ clock: HostClock) {
        self.clock = clock
    }

    /// Calls `end` after some time, unless ``remove(_:)`` comes first.
    func add(after time: Duration, _ end: @escaping @Sendable () -> Void) -> Ticket {
        let at = clock.uptime + time
        return state.withLock { state in
            state.last += 1
            state.calls[state.last] = (at, end)
            if state.timer.map({ $0.at > at }) ?? true {
                state.timer?.task.cancel()
                state.timer = (Task { await self.wait(until: at) }, at)
            }
            return Ticket(number: state.last)
        }
    }

    /// Forgets a call that has ended.
    func remove(_ ticket: Ticket) {
        state.withLock { state in
            state.calls.removeValue(forKey: ticket.number)
            guard state.calls.isEmpty else { return }
            state.timer?.task.cancel()
            state.timer = nil
        }
    }

    private func wait(until first: Duration) async {
        var at = first
        while true {
            guard (try? await clock.sleep(for: max(.zero, at - clock.uptime))) != nil else { return }
            let now = clock.uptime
            let (due, next) = state.withLock { state -> ([@Sendable () -> Void], Duration?) in
                // Another timer has taken over.
                guard state.timer?.at == at, !Task.isCancelled else { return ([], nil) }
                let due = state.calls.filter { $0.value.at <= now }
                for number in due.keys { state.calls.removeValue(forKey: number) }
                let next = state.calls.values.map(\.at).min()
                if let next { state.timer?.at = next } else { state.timer = nil }
                return (due.values.map(\.end), next)
            }
            for end in due { end() }
            guard let next else { return }
            at = next
        }
    }
}
