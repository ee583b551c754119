import AssayCore
import AssayKit
import Testing

@testable import AssayEngine

@Suite("Challenges that failed are remembered in bounded memory")
struct ChallengeMemoryTests {
    private func challenge(_ number: UInt8, round: UInt8 = 0) -> [UInt8] {
        [UInt8](repeating: 0, count: 21) + [UInt8](repeating: round, count: 8) + [UInt8](repeating: number, count: 40)
    }

    @Test("The oldest of a peer's network make way for the newest, one by one")
    func ring() {
        // Four of each of the 64 parts.
        let memory = ChallengeMemory(capacity: 256)
        let peer = PeerGroup("192.0.2.1")
        for number in 0..<20 as Range<UInt8> {
            memory.remember(challenge(number), of: peer)
            for earlier in 0...number {
                #expect(memory.contains(challenge(earlier)) == (number - earlier < 4), "\(earlier) after \(number)")
            }
        }
    }

    @Test("One that fails again is remembered once, and takes no other's place")
    func again() {
        let memory = ChallengeMemory(capacity: 256)
        let peer = PeerGroup("192.0.2.1")
        for number in 0..<4 as Range<UInt8> { memory.remember(challenge(number), of: peer) }
        for _ in 0..<10 { memory.remember(challenge(3), of: peer) }
        for number in 0..<4 as Range<UInt8> { #expect(memory.contains(challenge(number))) }
    }

    @Test("Each half of what makes a challenge unique tells it apart")
    func halves() {
        let memory = ChallengeMemory()
        memory.remember(challenge(1, round: 1), of: .unknown)
        #expect(memory.contains(challenge(1, round: 1)))
        #expect(!memory.contains(challenge(2, round: 1)))
        #expect(!memory.contains(challenge(1, round: 2)))
    }
}
