import AssayCore
import AssayCrypto
import Testing

@testable import AssayDeviceCheck

@Suite("What is remembered of tokens that the vendor refused")
struct TokenConductTests {
    private let conduct = InvalidTokenLimits()
    private let peer = PeerGroup("192.0.2.1")

    private func mark(_ number: Int) -> InvalidTokenLimits.Mark {
        InvalidTokenLimits.Mark(SHA256.hash(Array("\(number)".utf8)))
    }

    @Test("A refused token is known for ten minutes at least and twenty at most, and others are not")
    func memory() {
        conduct.refused(mark(1), of: peer, at: .seconds(5))
        #expect(conduct.wasRefused(mark(1), at: .seconds(605)))
        #expect(!conduct.wasRefused(mark(2), at: .seconds(605)))
        // The first look after the ten minutes makes it one of the older ones.
        #expect(conduct.wasRefused(mark(1), at: .seconds(700)))
        #expect(!conduct.wasRefused(mark(1), at: .seconds(1301)))
    }

    @Test("After a long time in which nobody asked, nothing is known any more")
    func quiet() {
        conduct.refused(mark(1), of: peer, at: .zero)
        #expect(!conduct.wasRefused(mark(1), at: .seconds(1201)))
    }

    @Test("However many tokens are refused, the last thousand are known and memory is bounded")
    func many() {
        let count = 5 * InvalidTokenLimits.tokens
        for number in 0..<count { conduct.refused(mark(number), of: peer, at: .seconds(1)) }
        for number in (count - InvalidTokenLimits.tokens)..<count {
            #expect(conduct.wasRefused(mark(number), at: .seconds(1)))
        }
        #expect(!conduct.wasRefused(mark(0), at: .seconds(1)))
    }

    @Test("A peer may bring ten bad tokens at once, and then one a minute")
    func allowance() {
        for number in 0..<9 {
            conduct.refused(mark(number), of: peer, at: .zero)
            #expect(conduct.wait(peer, at: .zero) == nil)
        }
        conduct.refused(mark(9), of: peer, at: .zero)
        #expect(conduct.wait(peer, at: .zero) == .seconds(60))
        #expect(conduct.wait(peer, at: .seconds(59)) == .seconds(1))
        #expect(conduct.wait(peer, at: .seconds(60)) == nil)
        conduct.refused(mark(10), of: peer, at: .seconds(60))
        #expect(conduct.wait(peer, at: .seconds(60)) == .seconds(60))
    }

    @Test("Bad tokens that were asked about at once cost no more than twice the allowance, and nobody else anything")
    func ceiling() {
        for number in 0..<1000 { conduct.refused(mark(number), of: peer, at: .seconds(100)) }
        #expect(conduct.wait(peer, at: .seconds(100)) == .seconds(11 * 60))
        #expect(conduct.wait(PeerGroup("192.0.2.2"), at: .seconds(100)) == nil)
        #expect(conduct.wait(peer, at: .seconds(100 + 11 * 60)) == nil)
    }
}
