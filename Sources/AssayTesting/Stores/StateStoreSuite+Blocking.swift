internal import AssayCore
internal import AssayKit
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#endif

extension StateStoreSuite {
    @Sendable func neverBlocks(_ run: Run) async throws {
        guard run.bare.neverBlocks else {
            return run.skip("the store does not say so; servers call it on eight threads of their own")
        }
        #if os(Linux)
        let (store, thread) = (run.bare, LoneThread())
        let operations: [(name: String, call: @Sendable (Int) async throws -> Void)] = [
            (
                "commit",
                { _ = try await store.insert(StateKey("suite/blocking", "\($0)"), value: [1], expires: nil) }
            ),
            ("put", { try await store.put(StateKey("suite/blocking", "\($0)"), value: [2], expires: nil) }),
            ("get", { _ = try await store.get(StateKey("suite/blocking", "\($0)")) }),
            ("list", { _ in _ = try await store.list("suite/blocking", after: nil, limit: 10) }),
        ]
        for (name, call) in operations {
            let blocked = try await Task(executorPreference: thread) {
                // What only the first calls wait for is no rule.
                for index in 0..<20 { try await run.progress.during(name) { try await call(index) } }
                var blocked = 0
                for index in 20..<120 {
                    let before = thread.waits
                    try await run.progress.during(name) { try await call(index) }
                    if thread.waits > before { blocked += 1 }
                }
                return blocked
            }.value
            run.expect(
                blocked < 10,
                "\(blocked) of 100 calls of `\(name)` made the thread wait, and the store says `neverBlocks`")
        }
        #else
        run.overlook("whether a thread waits can be seen on Linux only")
        #endif
    }
}

#if os(Linux)
/// A thread on which nothing else runs than what is looked at: it waits within a piece of work only where that makes it wait.
private final class LoneThread: TaskExecutor {
    private struct Waits {
        /// Those of the work that has ended.
        var ended = 0
        /// Those of the thread when the present work began.
        var start = 0
    }

    private let thread = WorkerThreads(count: 1, waiting: .max / 2)
    private let state = Mutex(Waits())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isQueued = thread.start { [self] in
            state.withLock { $0.start = Self.switches }
            job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0 = Waits(ended: $0.ended + Self.switches - $0.start, start: 0) }
        }
        precondition(isQueued, "no thread could be started")
    }

    /// How often the work has made the thread wait; to be asked on the thread.
    var waits: Int { state.withLock { $0.ended + Self.switches - $0.start } }

    /// How often the thread gave up the processor by itself: the system counts it (getrusage(2), `RUSAGE_THREAD`).
    private static var switches: Int {
        var usage = rusage()
        getrusage(1, &usage)
        return usage.ru_nvcsw
    }
}
#endif
