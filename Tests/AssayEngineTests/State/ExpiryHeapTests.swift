import AssayCore
import AssayKit
import AssayTesting
import Testing

@testable import AssayEngine

@Suite("The order in which entries expire")
struct ExpiryHeapTests {
    private func drained(_ heap: ExpiryHeap<Int>) -> [Int64] {
        var heap = heap
        var order: [Int64] = []
        while let item = heap.pop() { order.append(item.expires.milliseconds) }
        return order
    }

    /// A heap of so many entries, some of which expire at the same time.
    private func heap(_ count: Int, seed: UInt64) -> (heap: ExpiryHeap<Int>, times: [Int64]) {
        let random = Randomness.seeded(seed)
        var heap = ExpiryHeap<Int>()
        let times = random.bytes(count).map { Int64($0 % 64) - 32 }
        for (index, time) in times.enumerated() {
            heap.push(ExpiryHeap.Item(expires: Instant(milliseconds: time), payload: index))
        }
        return (heap, times)
    }

    @Test("Entries come out in the order of their times, whatever the order in which they came", arguments: 0..<40)
    func order(_ count: Int) {
        let (heap, times) = heap(count, seed: UInt64(count))
        #expect(heap.count == count)
        #expect(heap.earliest?.expires.milliseconds == times.min())
        #expect(drained(heap) == times.sorted())
    }

    @Test("What is filtered out never comes, and the others stay in order", arguments: [0, 1, 2, 3, 17, 100, 1000])
    func filter(_ count: Int) {
        var (heap, times) = heap(count, seed: 7)
        heap.filter { $0 % 3 != 0 }
        #expect(drained(heap) == times.enumerated().filter { $0.offset % 3 != 0 }.map(\.element).sorted())
        heap.filter { _ in false }
        #expect(heap.earliest == nil && heap.count == 0)
    }

    @Test("Adding and taking by turns loses nothing")
    func turns() {
        var (heap, times) = heap(50, seed: 3)
        var taken: [Int64] = []
        for round in 0..<200 {
            if round % 3 == 0, let item = heap.pop() {
                taken.append(item.expires.milliseconds)
            } else {
                let time = Int64((round * 37) % 101)
                times.append(time)
                heap.push(ExpiryHeap.Item(expires: Instant(milliseconds: time), payload: round))
            }
        }
        #expect((taken + drained(heap)).sorted() == times.sorted())
    }
}
