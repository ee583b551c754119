internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A value behind a lock, and threads that wait for a change of it.
///
/// It is `@unchecked` because its value is guarded by a mutex of the system, which can wait for a condition.
final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        // The time of day may be set while a thread waits.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Wakes one thread that waits.
    func signal() {
        pthread_cond_signal(condition)
    }

    /// Wakes all threads that wait.
    func signalAll() {
        pthread_cond_broadcast(condition)
    }

    /// Blocks the thread until a body returns something or the time is up; the body is asked again after each signal.
    func wait<Result>(atMost duration: Duration, _ body: (inout Value) -> Result?) -> Result? {
        let end = ContinuousClock.now + duration
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            let left = end - .now
            guard left > .zero else { return nil }
            block(left)
        }
    }

    private func block(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        #if canImport(Darwin)
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = Int64(time.tv_nsec) + attoseconds / 1_000_000_000
        time.tv_sec += Int(clamping: seconds + nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(nanoseconds % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }
}
