import AssayCore
import Testing

@testable import AssayHTTPServer

@Suite("What one peer holds of the budget")
struct PeerRoomTests {
    @Test("Once half of the budget is taken, a peer gets no more than half of what is free, and others still do")
    func bytes() {
        let budget = TransportBudget(bytes: 800, streams: 8)
        let (greedy, other) = (PeerBudget(budget, isBounded: true), PeerBudget(budget, isBounded: true))
        let proxy = PeerBudget(budget)
        #expect(greedy.reserve(bytes: 300), "while there is enough, all of it is for whoever comes")
        #expect(proxy.reserve(bytes: 101))
        #expect(!greedy.reserve(bytes: 1))
        #expect(!greedy.reserve(connectionBytes: 1))
        #expect(budget.refused == 2)
        // Of 299 for requests and 399 for connections.
        #expect(!other.reserve(bytes: 150))
        #expect(other.reserve(bytes: 149))
        #expect(!other.reserve(bytes: 1))
        #expect(!other.reserve(connectionBytes: 1), "half of 250 is less than it has")
        #expect(proxy.reserve(bytes: 99), "a proxy's clients are many")
        greedy.release(bytes: 250)
        #expect(budget.bytes == 399)
        #expect(greedy.reserve(bytes: 50))
        #expect(!greedy.reserve(bytes: 50), "it would have 150, and 251 are free")
        #expect(greedy.reserve(bytes: 25))
        #expect(!greedy.reserve(bytes: 1))
        #expect(budget.bytes == 474)
    }

    @Test("The same of open requests")
    func streams() {
        let budget = TransportBudget(bytes: 800, streams: 8)
        let (greedy, other) = (PeerBudget(budget, isBounded: true), PeerBudget(budget, isBounded: true))
        for _ in 0..<5 { #expect(greedy.openStream()) }
        #expect(!greedy.openStream())
        #expect(other.openStream())
        #expect(!other.openStream())
        for _ in 0..<4 { greedy.closeStream() }
        #expect(greedy.openStream())
        #expect(budget.streams == 3)
    }

    @Test("However many peers take all that they get, others find room at once", arguments: [1, 4, 8, 16])
    func greedyPeers(count: Int) {
        let budget = TransportBudget()
        let greedy = (0..<count).map { _ in PeerBudget(budget, isBounded: true) }
        var held = Array(repeating: 0, count: count)
        for round in 0..<20 {
            for (index, peer) in greedy.enumerated() {
                // What was sent before is over, as its time is.
                peer.release(bytes: held[index])
                held[index] = 0
                while peer.reserve(bytes: 16_384) { held[index] += 16_384 }
                let honest = PeerBudget(budget, isBounded: true)
                #expect(honest.reserve(connectionBytes: 61_440) && honest.reserve(bytes: 16_384), "round \(round)")
                honest.release(bytes: 61_440 + 16_384)
            }
        }
        let free = budget.requestByteLimit - budget.bytes
        #expect(free > budget.requestByteLimit / (count + 2), "about two parts of \(count + 2) are free: \(free)")
    }

    @Test("Connections of one peer share a room, and the last that ends takes it away")
    func table() {
        let budget = TransportBudget()
        let rooms = budget.rooms
        let peer = PeerGroup("198.51.100.7")
        let first = rooms.open(peer, in: budget)
        #expect(rooms.open(peer, in: budget) === first)
        #expect(rooms.open(PeerGroup("198.51.100.8"), in: budget) !== first)
        #expect(rooms.open(nil, in: budget) !== rooms.open(nil, in: budget))
        #expect(rooms.count == 2)
        rooms.close(peer)
        rooms.close(nil)
        #expect(rooms.open(peer, in: budget) === first)
        rooms.close(peer)
        rooms.close(peer)
        rooms.close(peer)
        #expect(rooms.count == 1)
        #expect(rooms.open(peer, in: budget) !== first)
    }
}
