#if canImport(Darwin)
internal import Darwin
internal import os
#else
internal import Synchronization
#endif

/// A value behind a lock that is held for moments only.
///
/// `Mutex` needs macOS 15 and iOS 18, and so Apple's systems use the lock below it.
#if canImport(Darwin)
// Unchecked: `state` is touched only while `lock` is held.
package final class Lock<State: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<os_unfair_lock>
    private var state: State

    package init(_ state: State) {
        lock = .allocate(capacity: 1)
        lock.initialize(to: os_unfair_lock())
        self.state = state
    }

    deinit {
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        os_unfair_lock_lock(lock)
        defer { os_unfair_lock_unlock(lock) }
        return body(&state)
    }
}
#else
package final class Lock<State: Sendable>: Sendable {
    private let mutex: Mutex<State>

    package init(_ state: State) {
        mutex = Mutex(state)
    }

    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        mutex.withLock { body(&$0) }
    }
}
#endif
