internal import NIOCore

/// Runs tasks on the thread of an event loop.
///
/// The requests of a connection are read, decided and answered on one thread: passing each request to another thread,
/// and its reply back, takes as long as a tenth of an exchange. What may block its thread runs elsewhere: isolated
/// plugins on their own threads, and stores on the threads that the process shares unless they are `neverBlocks`.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
