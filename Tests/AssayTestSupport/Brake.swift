internal import Foundation

/// Something that threads and tasks wait for, however they are cancelled.
public final class Brake: Sendable {
    private let condition = NSCondition()
    nonisolated(unsafe) private var isReleased = false
    nonisolated(unsafe) private var waiters: [CheckedContinuation<Void, Never>] = []
    nonisolated(unsafe) private var blocked = 0

    /// Makes one that holds everybody back.
    public init() {}

    /// Blocks the thread.
    public func wait() {
        condition.lock()
        blocked += 1
        while !isReleased { condition.wait() }
        blocked -= 1
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

    /// How many threads and tasks wait.
    public var count: Int {
        condition.lock()
        defer { condition.unlock() }
        return blocked + waiters.count
    }

    /// Returns once so many wait.
    public func waitForWaiters(_ count: Int) async {
        while self.count < count { try? await Task.sleep(for: .milliseconds(5)) }
    }

    /// Lets everybody continue, now and later.
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
