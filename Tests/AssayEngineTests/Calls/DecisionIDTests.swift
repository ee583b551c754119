import AssayCore
import Synchronization
import Testing

@testable import AssayEngine

@Suite("Identifiers of decisions that one server makes")
struct DecisionIDTests {
    @Test("The source of random bytes is asked once for many, and no bytes are used twice")
    func many() {
        let questions = Mutex<[Int]>([])
        let identifiers = DecisionIDs(
            Randomness { count in
                let number = questions.withLock { questions in
                    questions.append(count)
                    return questions.count
                }
                // The number of the question, the place in it, and zeros.
                return (0..<count).map { index in
                    switch index % 10 {
                    case 0: UInt8(number)
                    case 1: UInt8(index / 10)
                    default: 0
                    }
                }
            })
        let now = Instant(seconds: 1_795_262_400)
        let all = (0..<60).map { _ in identifiers.next(now: now).text }
        #expect(Set(all).count == 60)
        #expect(all.allSatisfy { $0.utf8.count == 26 })
        #expect(questions.withLock { $0 } == [250, 250, 250])
    }
}
