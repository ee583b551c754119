internal import Foundation

/// Something that threads and tasks wait for, however they are cancelled.
public final class Brake: Sendable {
    private let condition = NSCondition()
    nonisolated(unsafe) private var isReleased = false
    nonisolated(unsafe) private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Makes one that holds everybody back.
    public init() {}

    /// Blocks the thread.
    public func wait() {
        condition.lock()
        while !isReleased { condition.wait() }
        condition.unlock()
    }

    /// Waits without blocking, and ignores cancellation.
    public func pass() async {
        await withCheckedContinuation { waiter in
            condition.lock()
            if isReleased {
                condition.unlock()
                waiter.resume()
            } else {
                waiters.append(waiter)
                condition.unlock()
            }
        }
    }

    /// Lets everybody go on, now and later.
    public func release() {
        condition.lock()
        isReleased = true
        let waiters = self.waiters
        self.waiters = []
        condition.broadcast()
        condition.unlock()
        for waiter in waiters { waiter.resume() }
    }

    /// Holds everybody back again.
    public func hold() {
        condition.lock()
        isReleased = false
        condition.unlock()
    }
}
