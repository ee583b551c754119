import AssayCore
import AssayTesting
import Synchronization
import Testing

@testable import AssayEngine

@Suite("The limits of calls that run at the same time")
struct DeadlineQueueTests {
    /// Takes down which calls were ended.
    private final class Ends: Sendable {
        private let names = Mutex<[String]>([])

        func end(_ name: String) -> @Sendable () -> Void { { self.names.withLock { $0.append(name) } } }
        var all: [String] { names.withLock { $0.sorted() } }
    }

    private let clock = ManualClock()
    private let ends = Ends()

    private func wait(_ isSo: () -> Bool) async throws {
        while !isSo() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("Each call is ended at its own time, whatever the order in which they began")
    func order() async throws {
        let queue = DeadlineQueue(clock.hostClock)
        _ = queue.add(after: .seconds(5), ends.end("late"))
        _ = queue.add(after: .seconds(1), ends.end("early"))
        _ = queue.add(after: .seconds(3), ends.end("middle"))
        for (step, expected) in [(1, ["early"]), (2, ["early", "middle"]), (2, ["early", "late", "middle"])] {
            try await wait { clock.sleeperCount > 0 }
            clock.advance(by: .seconds(step) - .milliseconds(1))
            #expect(ends.all.count == expected.count - 1)
            try await wait { clock.sleeperCount > 0 }
            clock.advance(by: .milliseconds(1))
            try await wait { ends.all.count == expected.count }
            #expect(ends.all == expected)
        }
        try await wait { clock.sleeperCount == 0 }
    }

    @Test("A call that has ended is not ended again, and without calls no timer runs")
    func removal() async throws {
        let queue = DeadlineQueue(clock.hostClock)
        let first = queue.add(after: .seconds(1), ends.end("first"))
        let second = queue.add(after: .seconds(2), ends.end("second"))
        queue.remove(first)
        try await wait { clock.sleeperCount > 0 }
        clock.advance(by: .seconds(1))
        #expect(ends.all == [])
        queue.remove(second)
        try await wait { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(5))
        #expect(ends.all == [])
        _ = queue.add(after: .seconds(1), ends.end("third"))
        try await wait { clock.sleeperCount > 0 }
        clock.advance(by: .seconds(1))
        try await wait { ends.all == ["third"] }
    }

    @Test("Of many calls at once, those that ended in time are left alone, and all others are ended")
    func many() async throws {
        let queue = DeadlineQueue(clock.hostClock)
        let tickets = await withTaskGroup(of: (Int, DeadlineQueue.Ticket).self) { group in
            for number in 0..<500 {
                group.addTask { [ends] in
                    (number, queue.add(after: .milliseconds(number + 1), ends.end("\(number)")))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for number in 0..<500 where number % 2 == 0 { tickets[number].map { queue.remove($0) } }
        for _ in 0..<60 {
            clock.advance(by: .milliseconds(10))
            try await Task.sleep(for: .milliseconds(1))
        }
        try await wait { ends.all.count == 250 && clock.sleeperCount == 0 }
        #expect(Set(ends.all) == Set((0..<500).filter { $0 % 2 == 1 }.map { "\($0)" }))
    }
}
