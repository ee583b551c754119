import AssayCore
import Testing

@testable import AssayKit

@Suite("What is remembered of refused evidence")
struct RefusedEvidenceTests {
    private let refused = RefusedEvidence()
    private let peer = PeerGroup("192.0.2.1")

    private func evidence(_ number: Int) -> ExactText { ExactText("\(number)") }

    @Test("A refused token is known for ten minutes at least and twenty at most, and others are not")
    func memory() {
        refused.insert(evidence(1), of: peer, at: .seconds(5))
        #expect(refused.contains(evidence(1), at: .seconds(605)))
        #expect(!refused.contains(evidence(2), at: .seconds(605)))
        // The first look after the ten minutes makes it one of the older ones.
        #expect(refused.contains(evidence(1), at: .seconds(700)))
        #expect(!refused.contains(evidence(1), at: .seconds(1301)))
    }

    @Test("After a long time in which nobody asked, nothing is known any more")
    func quiet() {
        refused.insert(evidence(1), of: peer, at: .zero)
        #expect(!refused.contains(evidence(1), at: .seconds(1201)))
    }

    @Test("However many tokens are refused, the last thousand are known and memory is bounded")
    func many() {
        let count = 5 * RefusedEvidence.pieces
        for number in 0..<count { refused.insert(evidence(number), of: peer, at: .seconds(1)) }
        for number in (count - RefusedEvidence.pieces)..<count {
            #expect(refused.contains(evidence(number), at: .seconds(1)))
        }
        #expect(!refused.contains(evidence(0), at: .seconds(1)))
    }

    @Test("A peer may bring ten bad tokens at once, and then one a minute")
    func allowance() {
        for number in 0..<9 {
            refused.insert(evidence(number), of: peer, at: .zero)
            #expect(refused.wait(peer, at: .zero) == nil)
        }
        refused.insert(evidence(9), of: peer, at: .zero)
        #expect(refused.wait(peer, at: .zero) == .seconds(60))
        #expect(refused.wait(peer, at: .seconds(59)) == .seconds(1))
        #expect(refused.wait(peer, at: .seconds(60)) == nil)
        refused.insert(evidence(10), of: peer, at: .seconds(60))
        #expect(refused.wait(peer, at: .seconds(60)) == .seconds(60))
    }

    @Test("Bad tokens that were asked about at once cost no more than twice the allowance, and nobody else anything")
    func ceiling() {
        for number in 0..<1000 { refused.insert(evidence(number), of: peer, at: .seconds(100)) }
        #expect(refused.wait(peer, at: .seconds(100)) == .seconds(11 * 60))
        #expect(refused.wait(PeerGroup("192.0.2.2"), at: .seconds(100)) == nil)
        #expect(refused.wait(peer, at: .seconds(100 + 11 * 60)) == nil)
    }
}
