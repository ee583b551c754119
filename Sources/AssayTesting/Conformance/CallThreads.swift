internal import AssayCore

/// Threads for the calls of suites: a plugin that blocks the thread of its caller does not stop the suite.
final class CallThreads: TaskExecutor {
    static let shared = CallThreads()

    private let threads = WorkerThreads(count: 64, waiting: .max / 2)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isQueued = threads.start { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        // Jobs must run.
        if !isQueued { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
