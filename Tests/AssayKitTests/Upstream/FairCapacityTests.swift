import AssayCore
import Testing

@testable import AssayKit

@Suite("Places at a server that is asked")
struct FairPlacesTests {
    private static func peer(_ number: Int) -> PeerGroup { PeerGroup("198.51.\(number >> 8).\(number & 255)") }

    private struct Scene {
        var places = FairCapacity<Int>()
        var next: UInt64 = 0
        var peers: [UInt64: Int] = [:]

        /// Asks for a place, for app 0 unless said otherwise.
        mutating func enter(
            _ peer: Int, _ standing: Asker.Standing = .unknown, app: Int = 0, mayWait: Bool = true
        ) -> FairCapacity<Int>.Entry {
            next += 1
            peers[next] = peer
            return places.enter(
                next, app, Asker(peer: FairPlacesTests.peer(peer), standing: standing), mayWait: mayWait)
        }

        /// How many of so many requests are admitted at once.
        mutating func admitted(_ count: Int, _ peer: (Int) -> Int, _ standing: Asker.Standing = .unknown, app: Int = 0)
            -> Int
        {
            (0..<count).count { enter(peer($0), standing, app: app) == .admitted }
        }

        /// Gives a peer's place back; who got one.
        mutating func leave(_ peer: Int, app: Int = 0) -> [Int] {
            places.leave(app, FairPlacesTests.peer(peer)).compactMap { peers[$0] }
        }
    }

    @Test("a peer alone has 32 places, and 32 of its requests may wait")
    func alone() {
        var scene = Scene()
        #expect(scene.admitted(100, { _ in 1 }) == 32)
        #expect(scene.places.waiting == 32)
        #expect(scene.enter(1) == .refused)
        #expect(scene.leave(1) == [1])
        #expect(scene.places.taken == 32)
    }

    @Test("what a few peers beyond their share cannot take is there for others, and the last of it for verified ones")
    func reserves() {
        var scene = Scene()
        #expect(scene.admitted(48, { $0 % 3 }) == 32)
        #expect(scene.admitted(40, { 100 + $0 }) == 12)
        #expect(scene.admitted(10, { 200 + $0 }, .verified) == 4)
        // Other apps have places of their own.
        #expect(scene.admitted(20, { 300 + $0 }, app: 1) == 20)
        #expect(scene.admitted(40, { 400 + $0 }, .verified, app: 2) == 28)
    }

    @Test("one who has no time to wait does not wait")
    func noTime() {
        var scene = Scene()
        _ = scene.admitted(32, { _ in 1 })
        #expect(scene.enter(1, mayWait: false) == .refused)
        #expect(scene.places.waiting == 0)
    }

    @Test("free places go to verified peers, then to the others in turn, then to those beyond their share")
    func order() {
        var scene = Scene()
        #expect(scene.admitted(44, { $0 / 4 }) == 44)
        // Peer 0 holds its share; 50 and 51 wait with two requests each, 60 is suspect, 70 verified.
        #expect(scene.admitted(4, { 80 + $0 }, .verified) == 4)
        for (peer, standing) in [
            (0, Asker.Standing.unknown), (50, .unknown), (50, .unknown), (51, .unknown), (60, .suspect),
        ] {
            #expect(scene.enter(peer, standing) == .waiting(displaced: nil))
        }
        #expect(scene.enter(51) == .waiting(displaced: nil))
        #expect(scene.enter(70, .verified) == .waiting(displaced: nil))
        var served: [Int] = []
        for peer in (80..<84) { served += scene.leave(peer) }
        for place in 4..<44 { served += scene.leave(place / 4) }
        #expect(served.prefix(5) == [70, 50, 51, 50, 51])
        #expect(Set(served.suffix(2)) == [0, 60])
        #expect(scene.places.waiting == 0)
    }

    @Test("when the line is full, one that has more right to wait displaces one that has less")
    func displacement() {
        var scene = Scene()
        #expect(scene.admitted(32, { _ in 1 }) == 32)
        for peer in 1...16 { _ = scene.admitted(64, { _ in peer }) }
        #expect(scene.places.waiting == 512)
        guard case .waiting(let displaced?) = scene.enter(99) else {
            Issue.record("it does not wait, or nobody made way")
            return
        }
        #expect((1...16).contains(scene.peers[displaced] ?? 0))
        #expect(scene.places.waiting == 512)
        // A peer with a long line of its own displaces nobody.
        #expect(scene.enter(1) == .refused)
    }

    @Test("one that gives up leaves nothing behind")
    func givingUp() {
        var scene = Scene()
        #expect(scene.admitted(33, { _ in 1 }) == 32)
        let gaveUp = (scene.places.abandon(33), scene.places.abandon(33))
        #expect(gaveUp == (true, false))
        for _ in 0..<32 { #expect(scene.leave(1) == []) }
        #expect(scene.places.taken == 0)
        #expect(scene.places.waiting == 0)
    }
}

@Suite("What follows from 429")
struct ThrottlePauseTests {
    private var pause = ThrottlePause()

    private mutating func pass(_ standing: Asker.Standing, at now: Duration) throws -> ThrottlePause.Pass {
        guard case .admitted(let pass) = pause.begin(standing, at: now) else { throw CancellationError() }
        return pass
    }

    @Test("one that a stranger provokes silences strangers, for a minute at first, and no peer that was verified")
    mutating func strangers() throws {
        #expect(pause.throttled(try pass(.unknown, at: .zero), retryAfter: .seconds(3600), at: .zero) == .seconds(60))
        #expect(pause.begin(.unknown, at: .seconds(59)) == .refused(retryAfter: .seconds(1)))
        #expect(pause.begin(.suspect, at: .seconds(3599)) == .refused(retryAfter: .seconds(1)))
        _ = try pass(.verified, at: .zero)
        _ = try pass(.verified, at: .zero)
    }

    @Test("after the pause one question is let through, and the others when it is answered")
    mutating func probe() throws {
        _ = pause.throttled(try pass(.unknown, at: .zero), retryAfter: .seconds(30), at: .zero)
        let probe = try pass(.unknown, at: .seconds(30))
        #expect(pause.begin(.unknown, at: .seconds(31)) == .refused(retryAfter: .seconds(1)))
        pause.ended(probe, isAnswered: true)
        _ = try pass(.unknown, at: .seconds(31))
        _ = try pass(.unknown, at: .seconds(31))
    }

    @Test("a question that taught nothing, or never came back, makes way for another")
    mutating func lost() throws {
        _ = pause.throttled(try pass(.unknown, at: .zero), retryAfter: .seconds(30), at: .zero)
        pause.ended(try pass(.unknown, at: .seconds(30)), isAnswered: false)
        _ = try pass(.unknown, at: .seconds(30))
        #expect(pause.wait(.unknown, at: .seconds(39)) == .seconds(1))
        _ = try pass(.unknown, at: .seconds(40))
    }

    @Test("pauses that follow each other grow up to five minutes, for verified peers up to one; calm ends that")
    mutating func escalation() throws {
        var now = Duration.zero
        for (standing, expected) in [(Asker.Standing.verified, [1, 2, 4, 8, 16, 32, 60, 60]), (.unknown, [300, 300])] {
            for seconds in expected {
                let wait = pause.throttled(try pass(standing, at: now), retryAfter: .seconds(3600), at: now)
                #expect(wait == .seconds(seconds))
                now += .seconds(300)
            }
        }
        now += .seconds(700)
        #expect(pause.throttled(try pass(.unknown, at: now), retryAfter: .seconds(3600), at: now) == .seconds(60))
    }

    @Test("of many questions that were under way, one counts")
    mutating func together() throws {
        var passes: [ThrottlePause.Pass] = []
        for _ in 0..<32 { passes.append(try pass(.unknown, at: .zero)) }
        for pass in passes {
            #expect(pause.throttled(pass, retryAfter: .seconds(3600), at: .seconds(1)) == .seconds(60))
        }
        #expect(pause.wait(.unknown, at: .seconds(61)) == nil)
    }

    @Test("what the vendor wishes is heard where it is less, and five seconds where it says nothing")
    mutating func wishes() throws {
        #expect(pause.throttled(try pass(.unknown, at: .zero), retryAfter: .seconds(7), at: .zero) == .seconds(7))
        #expect(pause.throttled(try pass(.unknown, at: .seconds(7)), retryAfter: nil, at: .seconds(7)) == .seconds(10))
    }

    @Test("a shorter pause that a better asker provokes meanwhile does not shorten that of the others")
    mutating func shorter() throws {
        _ = pause.throttled(try pass(.unknown, at: .zero), retryAfter: .seconds(60), at: .zero)
        let verified = try pass(.verified, at: .seconds(10))
        #expect(pause.throttled(verified, retryAfter: .seconds(1), at: .seconds(10)) == .seconds(1))
        #expect(pause.wait(.verified, at: .seconds(10)) == .seconds(1))
        #expect(pause.wait(.unknown, at: .seconds(11)) == .seconds(49))
    }
}
