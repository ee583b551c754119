import AssayCore
import NIOCore
import Testing

@testable import AssayExtAuthz

@Suite("The shares of peers in an event loop")
struct LoopSharesTests {
    private final class Connection {}

    private let first = PeerGroup("192.0.2.1")
    private let second = PeerGroup("192.0.2.2")
    private let connections = (0..<4).map { _ in Connection() }
    private var shares = LoopShares()

    init() {
        for peer in [first, first, first, second] { shares.open(peer) }
    }

    private func number(_ index: Int) -> ObjectIdentifier { ObjectIdentifier(connections[index]) }

    @Test("a peer may continue until its share is used, whatever others use")
    mutating func share() {
        #expect(shares.mayContinue(first, after: .microseconds(999)))
        #expect(!shares.mayContinue(first, after: .milliseconds(1)))
        shares.use(.microseconds(600), by: first)
        #expect(shares.mayContinue(first, after: .microseconds(399)))
        #expect(!shares.mayContinue(first, after: .microseconds(400)))
        #expect(shares.mayContinue(second, after: .microseconds(999)))
    }

    @Test("what it uses beyond is taken from its next shares, and nothing is saved up")
    mutating func debt() {
        shares.use(.microseconds(2500), by: first)
        let answers = (0..<4).map { _ in
            shares.beginRound()
            return shares.mayContinue(first, after: .nanoseconds(0))
        }
        #expect(answers == [false, true, true, true])
        #expect(!shares.mayContinue(first, after: .milliseconds(1)))
    }

    @Test("the connections of a peer share with each other, and peers take turns")
    mutating func order() {
        for index in 0..<3 { shares.wait(number(index), of: first) }
        shares.wait(number(3), of: second)
        shares.beginRound()
        var continued: [ObjectIdentifier] = []
        while let next = shares.next() {
            continued.append(next)
            let peer = next == number(3) ? second : first
            shares.use(.microseconds(600), by: peer)
            if continued.count < 3 { shares.wait(next, of: peer) }
        }
        // 0 and 1 for the first peer, whose share is then used; 3 twice for the second.
        #expect(continued == [number(0), number(3), number(1), number(3)])
        #expect(shares.isAnyWaiting)
        shares.beginRound()
        #expect(shares.next() == number(2))
    }

    @Test("a peer whose share is used waits for the next round, and does not hold up others")
    mutating func used() {
        shares.use(.milliseconds(3), by: first)
        shares.wait(number(0), of: first)
        shares.wait(number(3), of: second)
        shares.beginRound()
        #expect(shares.next() == number(3))
        #expect(shares.next() == nil)
        #expect(shares.isAnyWaiting)
    }

    @Test("a connection that is closed does not continue, and a peer without connections is forgotten")
    mutating func closed() {
        shares.wait(number(0), of: first)
        shares.wait(number(3), of: second)
        shares.use(.seconds(1), by: second)
        shares.close(number(0), of: first)
        shares.close(number(3), of: second)
        #expect(!shares.isAnyWaiting)
        shares.beginRound()
        #expect(shares.next() == nil)
        shares.open(second)
        #expect(shares.mayContinue(second, after: .nanoseconds(0)))
    }
}
