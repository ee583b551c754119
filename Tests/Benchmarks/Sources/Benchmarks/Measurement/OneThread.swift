internal import Foundation
internal import Synchronization

/// Runs tasks, and the tasks in them, on a thread of its own.
final class OneThread: TaskExecutor {
    private struct Queue: Sendable {
        var jobs: [UnownedJob] = []
        var isStopped = false
    }

    private let queue = Mutex(Queue())
    private let wakes = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [self] in work() }
        thread.stackSize = 8 << 20
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasEmpty = queue.withLock { queue in
            queue.jobs.append(job)
            return queue.jobs.count == 1
        }
        if wasEmpty { wakes.signal() }
    }

    /// Lets the thread end when nothing is left to do.
    func stop() {
        queue.withLock { $0.isStopped = true }
        wakes.signal()
    }

    private func work() {
        while true {
            let (jobs, isStopped) = queue.withLock { queue in
                defer { queue.jobs.removeAll(keepingCapacity: true) }
                return (queue.jobs, queue.isStopped)
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if jobs.isEmpty {
                if isStopped { return }
                wakes.wait()
            }
        }
    }
}
