package import AssayCore

/// Runs one call of an isolated plugin on the plugin's own threads, and counts its CPU time; also the operations of stores
/// that may block, on theirs.
package final class CallExecutor: TaskExecutor {
    private let threads: WorkerThreads
    private let charge: @Sendable (_ nanoseconds: Int) -> Void

    /// - Parameter charge: receives the CPU time of each piece of work.
    package init(_ threads: WorkerThreads, charge: @escaping @Sendable (_ nanoseconds: Int) -> Void) {
        self.threads = threads
        self.charge = charge
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Jobs must run: where no thread can be had, they run with those of the process.
        let isQueued = threads.start { [self] in
            let start = ThreadTime.nanoseconds
            job.runSynchronously(on: asUnownedTaskExecutor())
            charge(ThreadTime.nanoseconds - start)
        }
        if !isQueued {
            // Not expected: the queue has room for all calls that the guard admits.
            Task.detached(executorPreference: globalConcurrentExecutor) { [self] in
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}
