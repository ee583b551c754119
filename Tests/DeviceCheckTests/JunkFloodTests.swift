import AssayCore
import AssayDeviceCheck
import AssayKit
import AssayTesting
import Synchronization
import Testing

/// Apple, which takes a tenth of a second for each question.
private final class SlowApple: OutboundHTTP {
    private let apple: SimulatedAppleServer
    private let clock: ManualClock

    init(_ apple: SimulatedAppleServer, _ clock: ManualClock) {
        self.apple = apple
        self.clock = clock
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        do {
            try await clock.hostClock.sleep(for: .milliseconds(100))
        } catch {
            throw OutboundFailure(.cancelled, "the task was cancelled")
        }
        return try await apple.send(request)
    }
}

/// Clients that come at once to a service whose clock moves only when all of them wait.
private final class Crowd: Sendable {
    private struct State {
        /// Calls that have not ended, and pauses between them.
        var calls = 0
        var pauses = 0
        var served = 0
        var refused = 0
        var junk = 0
        var isOver = false
    }

    let scene: DeviceCheckScene
    private let state = Mutex(State())

    init(_ scene: DeviceCheckScene) {
        self.scene = scene
    }

    var served: Int { state.withLock { $0.served } }
    var refused: Int { state.withLock { $0.refused } }
    var junk: Int { state.withLock { $0.junk } }

    /// One exchange of a genuine token.
    func genuine(_ number: Int, from peer: String?) async {
        state.withLock { $0.calls += 1 }
        let failure = await scene.exchange(DeviceCheckScene.token("genuine\(number)"), from: peer).failure
        state.withLock { state in
            state.calls -= 1
            if failure == nil { state.served += 1 } else { state.refused += 1 }
        }
    }

    /// A connection that sends one junk token after the other, with a short pause, until the crowd is over.
    func attack(_ number: Int, from peer: String?) async {
        var count = 0
        while !state.withLock({ $0.isOver }) {
            state.withLock { state in
                state.calls += 1
                state.junk += 1
            }
            count += 1
            let token = Base64.encode(Array("junk \(number) \(count), of a plausible length".utf8))
            _ = await scene.exchange(.string(token), from: peer)
            state.withLock { state in
                state.calls -= 1
                state.pauses += 1
            }
            try? await scene.clock.hostClock.sleep(for: .milliseconds(10))
            state.withLock { $0.pauses -= 1 }
        }
    }

    /// Who sleeps when each call waits for Apple or for a place: they, the one timer of all deadlines, and whoever pauses.
    private static func sleepers(_ calls: Int, _ pauses: Int) -> Int { calls + pauses + (calls > 0 ? 1 : 0) }

    /// Until each call waits for Apple or for a place, beside its deadline, and whoever pauses sleeps.
    func settle(_ clients: Int) async {
        while true {
            let (calls, pauses) = state.withLock { ($0.calls, $0.pauses) }
            if calls + pauses == clients, scene.clock.sleeperCount == Self.sleepers(calls, pauses) { return }
            await Task.yield()
        }
    }

    /// Has the attackers begin, then the genuine ones, and moves the clock until these are answered.
    func run(junkFrom attackers: [String?], genuineFrom genuine: [String?]) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, peer) in attackers.enumerated() { group.addTask { await self.attack(number, from: peer) } }
            await settle(attackers.count)
            for (number, peer) in genuine.enumerated() { group.addTask { await self.genuine(number, from: peer) } }
            var left = genuine.count
            while left > 0 {
                while true {
                    let (calls, pauses, done) = state.withLock { ($0.calls, $0.pauses, $0.served + $0.refused) }
                    left = genuine.count - done
                    if calls + pauses == attackers.count + left,
                        scene.clock.sleeperCount == Self.sleepers(calls, pauses)
                    {
                        break
                    }
                    await Task.yield()
                }
                if left > 0 { scene.clock.advance(by: .milliseconds(10)) }
            }
            state.withLock { $0.isOver = true }
            group.cancelAll()
        }
    }
}

/// From where 48 connections of junk come.
private let attacks: [(String, [String])] = [
    ("one address", (0..<48).map { _ in "203.0.113.1" }),
    ("three addresses", (0..<48).map { "203.0.113.\($0 % 3)" }),
    ("48 addresses of one /64", (0..<48).map { "2001:db8::\(String($0 + 1, radix: 16))" }),
    ("48 addresses of 48 networks", (0..<48).map { "203.0.\($0).1" }),
    ("three addresses that are mapped into IPv6", (0..<48).map { "::ffff:203.0.113.\($0 % 3)" }),
]

@Suite("Floods of junk device tokens", .timeLimit(.minutes(20)))
struct JunkFloodTests {
    private static let stranger = "203.0.113.1"
    private static let friend = "198.51.100.1"

    private static func scene(_ section: String = "") throws -> DeviceCheckScene {
        try DeviceCheckScene(section) { apple, clock in SlowApple(apple, clock) }
    }

    private static func junk(_ number: Int) -> JSON {
        .string(Base64.encode(Array("junk \(number), of a plausible length".utf8)))
    }

    @Test("48 connections of junk leave 40 genuine devices served", arguments: attacks)
    func flood(_ name: String, _ attackers: [String]) async throws {
        let crowd = Crowd(try Self.scene())
        await crowd.run(junkFrom: attackers, genuineFrom: (0..<40).map { "198.51.100.\($0)" })
        #expect(crowd.served >= 38, "\(name)")
        #expect(crowd.junk >= 48)
    }

    @Test("genuine devices behind one address are served beside junk from others")
    func sharedAddress() async throws {
        let crowd = Crowd(try Self.scene())
        await crowd.run(
            junkFrom: (0..<48).map { "203.0.113.\($0 % 3)" }, genuineFrom: (0..<32).map { _ in Self.friend })
        #expect(crowd.served >= 30)
    }

    @Test("behind a proxy that is not known, 32 genuine devices ask at once, and as many wait")
    func proxy() async throws {
        let crowd = Crowd(try Self.scene())
        await crowd.run(junkFrom: [], genuineFrom: (0..<64).map { _ in "10.0.0.1" })
        #expect(crowd.served == 64)
        #expect(crowd.scene.questions.count == 64)
    }

    @Test("a 429 that junk provoked silences strangers, and not the peers that were verified before")
    func throttled() async throws {
        let scene = try DeviceCheckScene()
        #expect(await scene.exchange(from: Self.friend).failure == nil)
        scene.apple.script([
            .respond(OutboundResponse(status: 429, headers: [OutboundHeader("Retry-After", "3600")]))
        ])
        #expect(await scene.exchange(Self.junk(1), from: Self.stranger).failure?.retryAfter == .seconds(60))
        #expect(
            await scene.exchange(DeviceCheckScene.token("b"), from: "198.51.100.2").failure?.retryAfter == .seconds(60))
        #expect(scene.questions.count == 2)
        for number in 1...5 {
            #expect(await scene.exchange(DeviceCheckScene.token("a", number: number), from: Self.friend).failure == nil)
        }
        // Strangers wait a minute, not the hour that Apple named.
        scene.clock.advance(by: .seconds(60))
        #expect(await scene.exchange(DeviceCheckScene.token("b"), from: "198.51.100.2").failure == nil)
        #expect(await scene.exchange(DeviceCheckScene.token("c"), from: "198.51.100.3").failure == nil)
    }

    @Test("when Apple throttles verified peers, too, one of them asks again after a second")
    func verifiedThrottled() async throws {
        let scene = try DeviceCheckScene()
        #expect(await scene.exchange(from: Self.friend).failure == nil)
        scene.apple.script([
            .respond(OutboundResponse(status: 429, headers: [OutboundHeader("Retry-After", "3600")]))
        ])
        #expect(await scene.exchange(DeviceCheckScene.token("b"), from: Self.friend).failure?.retryAfter == .seconds(1))
        scene.clock.advance(by: .seconds(1))
        #expect(await scene.exchange(DeviceCheckScene.token("b"), from: Self.friend).failure == nil)
        #expect(await scene.exchange(DeviceCheckScene.token("c"), from: Self.stranger).failure?.status == .unavailable)
    }

    @Test("a stranger may bring ten bad tokens, and one a minute after; Apple is not asked about more")
    func allowance() async throws {
        let scene = try DeviceCheckScene()
        for number in 0..<10 {
            let failure = await scene.exchange(Self.junk(number), from: "2001:db8::\(number)").failure
            #expect(failure?.reason == DeviceCheckProvider.reasons.refused)
        }
        let failure = try #require(await scene.exchange(Self.junk(10), from: "2001:db8::a").failure)
        #expect(failure.status == .resourceExhausted)
        #expect(failure.reason == DeviceCheckProvider.reasons.limited)
        #expect(failure.retryAfter == .seconds(60))
        #expect(scene.questions.count == 10)
        #expect(await scene.exchange(from: "2001:db8:0:1::1").failure == nil)
        scene.clock.advance(by: .seconds(60))
        #expect(
            await scene.exchange(Self.junk(11), from: "2001:db8::b").failure?.reason
                == DeviceCheckProvider.reasons.refused)
        #expect(await scene.exchange(Self.junk(12), from: "2001:db8::c").failure?.status == .resourceExhausted)
    }

    @Test(
        "tokens of an address that may stand for many clients are asked about further on",
        arguments: ["10.0.0.1", "198.51.100.1", nil])
    func sharedAllowance(peer: String?) async throws {
        let scene = try DeviceCheckScene()
        #expect(await scene.exchange(from: peer).failure == nil)
        for number in 0..<50 {
            #expect(
                await scene.exchange(Self.junk(number), from: peer).failure?.reason
                    == DeviceCheckProvider.reasons.refused)
        }
        #expect(await scene.exchange(DeviceCheckScene.token("b"), from: peer).failure == nil)
    }

    @Test("a client with one genuine device that sends junk is silenced with the strangers when that provokes a 429")
    func genuineJunk() async throws {
        let scene = try DeviceCheckScene()
        for peer in [Self.friend, Self.stranger] {
            #expect(await scene.exchange(DeviceCheckScene.token(peer), from: peer).failure == nil)
        }
        for number in 0..<10 { _ = await scene.exchange(Self.junk(number), from: Self.stranger) }
        scene.apple.script([
            .respond(OutboundResponse(status: 429, headers: [OutboundHeader("Retry-After", "3600")]))
        ])
        #expect(await scene.exchange(Self.junk(10), from: Self.stranger).failure?.retryAfter == .seconds(3600))
        #expect(await scene.exchange(Self.junk(11), from: Self.stranger).failure?.status == .unavailable)
        #expect(await scene.exchange(DeviceCheckScene.token("b"), from: Self.friend).failure == nil)
        #expect(await scene.exchange(DeviceCheckScene.token("c"), from: "198.51.100.3").failure == nil)
    }

    @Test("a token that Apple refused is refused again without a question, for a while, whoever brings it")
    func refusedBefore() async throws {
        let scene = try DeviceCheckScene()
        for number in 0..<100 {
            let failure = await scene.exchange(Self.junk(0), from: "203.0.113.\(number)").failure
            #expect(failure?.reason == DeviceCheckProvider.reasons.refused)
        }
        #expect(scene.questions.count == 1)
        scene.clock.advance(by: .seconds(1201))
        _ = await scene.exchange(Self.junk(0), from: Self.stranger)
        #expect(scene.questions.count == 2)
    }
}
