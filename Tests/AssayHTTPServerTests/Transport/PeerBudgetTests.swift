import AssayCore
import Testing

@testable import AssayHTTPServer

@Suite("What one peer holds of the budget")
struct PeerRoomTests {
    @Test("Once half of the budget is taken, a peer gets no more than a quarter of it, and others still do")
    func bytes() {
        let budget = TransportBudget(bytes: 800, streams: 8)
        let (greedy, other) = (PeerBudget(budget, isBounded: true), PeerBudget(budget, isBounded: true))
        let proxy = PeerBudget(budget)
        #expect(greedy.reserve(bytes: 300), "while there is enough, all of it is for whoever comes")
        #expect(proxy.reserve(bytes: 101))
        #expect(!greedy.reserve(bytes: 1))
        #expect(!greedy.reserve(connectionBytes: 1))
        #expect(budget.refused == 2)
        #expect(other.reserve(bytes: 150))
        #expect(other.reserve(connectionBytes: 50))
        #expect(!other.reserve(bytes: 1))
        #expect(proxy.reserve(bytes: 99), "a proxy's clients are many")
        greedy.release(bytes: 150)
        #expect(greedy.reserve(bytes: 50))
        #expect(!greedy.reserve(bytes: 1))
        #expect(budget.bytes == 600)
    }

    @Test("The same of open requests")
    func streams() {
        let budget = TransportBudget(bytes: 800, streams: 8)
        let (greedy, other) = (PeerBudget(budget, isBounded: true), PeerBudget(budget, isBounded: true))
        for _ in 0..<5 { #expect(greedy.openStream()) }
        #expect(!greedy.openStream())
        #expect(other.openStream())
        #expect(other.openStream())
        #expect(!other.openStream())
        for _ in 0..<4 { greedy.closeStream() }
        #expect(greedy.openStream())
        #expect(budget.streams == 4)
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
