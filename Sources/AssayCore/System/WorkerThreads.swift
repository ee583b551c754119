#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
internal import SwiftOverlayShims
#endif

/// A few threads for work that may block: the process's other threads continue.
///
/// Threads are started when work waits for one, and end after half a minute without work.
public final class WorkerThreads: Sendable {
    private let core: Core
    private let count: Int
    private let waiting: Int

    /// Starts no thread yet.
    ///
    /// - `count`: the most threads.
    /// - `waiting`: how much work may wait for one.
    public init(count: Int, waiting: Int) {
        core = Core()
        self.count = max(count, 1)
        self.waiting = max(waiting, 0)
    }

    /// Does work on one of the threads, in the order of the calls.
    ///
    /// Returns false, and does nothing, when too much work waits already or the system starts no thread.
    public func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        core.add(work, threads: count, waiting: waiting)
    }
}

/// The queue that the threads share.
///
/// It is `@unchecked` because its state is guarded by a mutex of the system, which can wait for a condition.
private final class Core: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var queue: [@Sendable () -> Void] = []
    private var first = 0
    private var threads = 0
    private var idle = 0

    private static let patience = 30

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func add(_ work: @escaping @Sendable () -> Void, threads most: Int, waiting: Int) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let queued = queue.count - first
        guard queued < waiting + idle || threads < most else { return false }
        if idle <= queued, threads < most {
            if launch() { threads += 1 } else if threads == 0 { return false }
        }
        queue.append(work)
        pthread_cond_signal(condition)
        return true
    }

    private func launch() -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        let this = Unmanaged.passRetained(self)
        #if canImport(Darwin)
        var thread: pthread_t?
        let code = pthread_create(&thread, &attributes, { runThread($0) }, this.toOpaque())
        #else
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, { runThread($0) }, this.toOpaque())
        #endif
        if code != 0 { this.release() }
        return code == 0
    }

    fileprivate func work() {
        pthread_mutex_lock(mutex)
        while let work = next() {
            pthread_mutex_unlock(mutex)
            work()
            pthread_mutex_lock(mutex)
        }
        threads -= 1
        pthread_mutex_unlock(mutex)
    }

    /// The next work; nil when none came for a while.
    ///
    /// The mutex is locked.
    private func next() -> (@Sendable () -> Void)? {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += Core.patience
        while first == queue.count {
            idle += 1
            let code = pthread_cond_timedwait(condition, mutex, &end)
            idle -= 1
            if code != 0, first == queue.count { return nil }
        }
        let work = queue[first]
        first += 1
        if first == queue.count {
            queue.removeAll(keepingCapacity: queue.count < 256)
            first = 0
        } else if first >= 256 {
            queue.removeSubrange(..<first)
            first = 0
        }
        return work
    }
}

private func runThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let pointer else { return nil }
    let core = Unmanaged<Core>.fromOpaque(pointer).takeRetainedValue()
    core.work()
    return nil
}

extension WorkerThreads {
    /// Does work on one of the threads, and waits for it without blocking.
    ///
    /// When the task is cancelled it returns at once; the work continues, and its result is dropped.
    ///
    /// - Throws: ``TooMuchWork``; `CancellationError`; what the work throws.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let outcome = FirstResult<Value>()
        guard start({ outcome.settle(Result { try work() }) }) else { throw TooMuchWork() }
        return try await withTaskCancellationHandler {
            try await outcome.value
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
        }
    }
}

/// Too much work waits for a thread.
public struct TooMuchWork: Error, Sendable, CustomStringConvertible {
    /// Makes the error.
    public init() {}

    /// In words, for operators.
    public var description: String { "too much work waits for a thread" }
}
