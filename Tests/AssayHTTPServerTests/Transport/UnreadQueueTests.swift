import Synchronization
import Testing

@testable import AssayHTTPServer

@Suite("Replies that nobody reads")
struct UnreadQueueTests {
    private final class Peer: Sendable {}

    /// The replies that were given up, by their numbers.
    private final class GivenUp: Sendable {
        private let numbers = Mutex<[Int]>([])

        var all: [Int] { numbers.withLock { $0 } }

        func function(_ number: Int) -> @Sendable () -> Void {
            { self.numbers.withLock { $0.append(number) } }
        }
    }

    @Test("One peer keeps an eighth of the open requests, and its oldest replies go first")
    func streamsOfPeer() {
        var queue = UnreadQueue(bytes: 1_000_000, streams: 80)
        let (greedy, other, givenUp) = (Peer(), Peer(), GivenUp())
        _ = queue.append(bytes: 1, of: ObjectIdentifier(other), abandon: givenUp.function(-1))
        for number in 0..<100 {
            let (_, leaving) = queue.append(bytes: 1, of: ObjectIdentifier(greedy), abandon: givenUp.function(number))
            for abandon in leaving { abandon() }
            #expect(queue.count <= 11 && queue.bytes <= 11)
        }
        #expect(givenUp.all == Array(0..<90))
    }

    @Test("One peer keeps an eighth of the bytes")
    func bytesOfPeer() {
        var queue = UnreadQueue(bytes: 8000, streams: 8000)
        let (greedy, givenUp) = (Peer(), GivenUp())
        for number in 0..<100 {
            let (_, leaving) = queue.append(bytes: 300, of: ObjectIdentifier(greedy), abandon: givenUp.function(number))
            for abandon in leaving { abandon() }
            #expect(queue.bytes <= 1000)
        }
        #expect(givenUp.all == Array(0..<97))
    }

    @Test("All peers together, and the clients of proxies, keep a quarter", arguments: [false, true])
    func all(isProxy: Bool) {
        var queue = UnreadQueue(bytes: 8000, streams: 80)
        let (peers, givenUp) = ((0..<50).map { _ in Peer() }, GivenUp())
        for number in 0..<50 {
            let peer = isProxy ? nil : ObjectIdentifier(peers[number])
            let (_, leaving) = queue.append(bytes: 10, of: peer, abandon: givenUp.function(number))
            for abandon in leaving { abandon() }
            #expect(queue.count <= 20)
        }
        #expect(givenUp.all == Array(0..<30))
        #expect(queue.peers == (isProxy ? 0 : 20))
    }

    @Test("A reply that is read no longer counts, and one that is too large alone stays")
    func read() {
        var queue = UnreadQueue(bytes: 80, streams: 8)
        let (peer, givenUp) = (Peer(), GivenUp())
        let (first, _) = queue.append(bytes: 1000, of: ObjectIdentifier(peer), abandon: givenUp.function(0))
        queue.remove(first)
        queue.remove(first)
        #expect(queue.count == 0 && queue.bytes == 0 && queue.peers == 0)
        let (second, leaving) = queue.append(bytes: 1000, of: ObjectIdentifier(peer), abandon: givenUp.function(1))
        #expect(leaving.isEmpty && queue.bytes == 1000)
        queue.remove(second)
        #expect(queue.count == 0 && queue.bytes == 0)
    }

    @Test("Replies of a room are given up by the budget that it is a part of")
    func room() {
        let budget = TransportBudget(bytes: 8000, streams: 80)
        let (room, givenUp) = (PeerBudget(budget, isBounded: true), GivenUp())
        let tickets = (0..<12).map { room.beginUnread(bytes: 1, abandon: givenUp.function($0)) }
        #expect(givenUp.all == [0, 1])
        for ticket in tickets { room.endUnread(ticket) }
        for number in 12..<22 { _ = room.beginUnread(bytes: 1, abandon: givenUp.function(number)) }
        #expect(givenUp.all == [0, 1])
    }
}
