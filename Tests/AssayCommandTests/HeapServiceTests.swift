import AssayHTTP
import Synchronization
import Testing

@testable import assay

@Suite("Memory that listeners no longer need", .timeLimit(.minutes(1)))
struct HeapServiceTests {
    @Test("Memory is given back when much less is held than before, and only then")
    func trims() async throws {
        let budget = TransportBudget()
        let count = Mutex(0)
        var service = HeapService(budget: budget)
        service.interval = .milliseconds(1)
        service.worthwhile = 1000
        let (trims, continuation) = AsyncStream.makeStream(of: Int.self)
        service.trim = {
            continuation.yield(
                count.withLock { count in
                    count += 1
                    return count
                })
        }
        #expect(budget.reserve(bytes: 5000))
        let task = Task { [service] in try await service.run() }
        defer { task.cancel() }
        try await Task.sleep(for: .milliseconds(50))
        budget.release(bytes: 999)
        try await Task.sleep(for: .milliseconds(50))
        #expect(count.withLock { $0 } == 0)
        budget.release(bytes: 4001)
        var seen = trims.makeAsyncIterator()
        #expect(await seen.next() == 1)
        try await Task.sleep(for: .milliseconds(50))
        #expect(count.withLock { $0 } == 1)
    }
}
