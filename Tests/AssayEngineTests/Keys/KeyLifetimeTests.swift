import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Testing
@testable import AssayServices

@Suite("The life of keys")
struct KeyLifetimeTests {
    enum Step: Sendable {
        case prepare(lead: Duration = KeyStore.signingLead, automatic: Bool = false, sealing: Bool = false)
        /// Of the keys in the order in which they were made, the first being number 0.
        case activate(Int, beforeItsTime: Bool = false)
        case retire(Int)
        case revoke(Int, losingDevices: Bool = false)
        case rotate
        case pass(Duration)
        /// What is refused by the rules, with a part of the words.
        indirect case refused(Step, String)
    }

    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)
    private static let moment = Duration.milliseconds(1)

    /// What is done, and the states of the keys then, in the order in which they were made.
    private static let signingTable: [([Step], [KeyDescription.State])] = [
        ([], [.active]),
        ([.prepare()], [.active, .prepared]),
        ([.prepare(), .pass(hour * 1000)], [.active, .prepared]),
        ([.prepare(), .refused(.activate(1), "may be activated from 2026-11-21T19:05:00Z")], [.active, .prepared]),
        (
            [.prepare(), .pass(KeyStore.signingLead - moment), .refused(.activate(1), "19:05:00Z")],
            [.active, .prepared]
        ),
        ([.prepare(), .pass(KeyStore.signingLead), .activate(1)], [.retired, .active]),
        ([.prepare(), .activate(1, beforeItsTime: true)], [.retired, .active]),
        ([.prepare(lead: .zero), .activate(1), .activate(1)], [.retired, .active]),
        ([.activate(0)], [.active]),
        ([.prepare(lead: .zero), .activate(1), .refused(.activate(0), "was retired at")], [.retired, .active]),
        ([.prepare(automatic: true), .pass(KeyStore.signingLead - moment)], [.active, .prepared]),
        ([.prepare(automatic: true), .pass(KeyStore.signingLead)], [.retired, .active]),
        ([.prepare(automatic: true), .activate(1, beforeItsTime: true), .pass(day)], [.retired, .active]),
        (
            [.prepare(automatic: true), .pass(KeyStore.signingLead), .refused(.activate(0), "was retired")],
            [.retired, .active]
        ),
        // An hour before the key that begins by itself, another is activated: the former follows anyway.
        (
            [.prepare(automatic: true), .prepare(lead: .zero), .pass(KeyStore.signingLead - hour), .activate(2)],
            [.retired, .prepared, .active]
        ),
        (
            [
                .prepare(automatic: true), .prepare(lead: .zero), .pass(KeyStore.signingLead - hour), .activate(2),
                .pass(hour),
            ],
            [.retired, .active, .retired]
        ),
        (
            // The second is the first: otherwise it would retire it as soon as it begins.
            [.prepare(automatic: true), .prepare(automatic: true), .pass(KeyStore.signingLead)], [.retired, .active]
        ),
        (
            [.prepare(automatic: true), .pass(hour), .prepare(automatic: true), .pass(KeyStore.signingLead)],
            [.retired, .active]
        ),
        ([.refused(.retire(0), "prepare one first")], [.active]),
        ([.prepare(), .refused(.retire(0), "can take its place from 2026-11-21T19:05:00Z on")], [.active, .prepared]),
        ([.prepare(), .pass(KeyStore.signingLead), .retire(0)], [.retired, .active]),
        ([.prepare(), .retire(1)], [.active, .retired]),
        ([.prepare(automatic: true), .retire(1), .pass(day)], [.active, .retired]),
        ([.prepare(lead: .zero), .activate(1), .retire(0)], [.retired, .active]),
        ([.prepare(lead: .zero), .activate(1), .pass(day * 8 - moment)], [.retired, .active]),
        ([.prepare(lead: .zero), .activate(1), .pass(day * 8)], [.expired, .active]),
        ([.prepare(automatic: true), .pass(KeyStore.signingLead + day * 8 - moment)], [.retired, .active]),
        ([.prepare(automatic: true), .pass(KeyStore.signingLead + day * 8)], [.expired, .active]),
        // What has expired leaves with the next key that is made.
        ([.prepare(automatic: true), .pass(KeyStore.signingLead + day * 8), .prepare()], [.active, .prepared]),
        ([.revoke(0)], [.revoked, .active]),
        ([.prepare(), .revoke(0)], [.revoked, .active]),
        ([.prepare(), .prepare(lead: .zero), .revoke(0)], [.revoked, .prepared, .active]),
        ([.prepare(automatic: true), .revoke(1), .pass(day)], [.active, .revoked]),
        ([.revoke(0), .revoke(0), .refused(.activate(0), "was revoked at")], [.revoked, .active]),
        // The key before the revoked one does not come back.
        ([.prepare(automatic: true), .pass(day), .revoke(1)], [.retired, .revoked, .active]),
        ([.prepare(lead: .zero), .activate(1), .revoke(0)], [.revoked, .active]),
        ([.revoke(0), .pass(day * 8), .prepare()], [.active, .prepared]),
        // With a clock that was set back, what was activated stays so.
        ([.prepare(lead: .zero), .activate(1), .pass(day * -30)], [.retired, .active]),
        ([.pass(day * -30), .prepare(lead: .zero), .activate(1)], [.retired, .active]),
        ([.pass(day * -30), .prepare(lead: .zero, automatic: true), .pass(day)], [.active, .prepared]),
        ([.pass(day * -30), .prepare(lead: .zero, automatic: true), .pass(day * 31)], [.retired, .active]),
    ]

    private static let sealingTable: [([Step], [KeyDescription.State])] = [
        ([], [.active]),
        ([.rotate, .rotate], [.retired, .retired, .active]),
        ([.pass(day * -30), .rotate], [.retired, .active]),
        ([.prepare(lead: .seconds(600), sealing: true)], [.active, .prepared]),
        (
            [.prepare(lead: .seconds(600), sealing: true), .refused(.activate(1), "from 2026-11-21T12:10:00Z on")],
            [.active, .prepared]
        ),
        ([.prepare(lead: .seconds(600), sealing: true), .pass(.seconds(600)), .activate(1)], [.retired, .active]),
        ([.prepare(lead: .seconds(600), automatic: true, sealing: true), .pass(.seconds(600))], [.retired, .active]),
        ([.rotate, .pass(day * 10_000)], [.retired, .active]),
        ([.rotate, .pass(day * 10_000), .prepare(sealing: true)], [.retired, .active, .prepared]),
        ([.refused(.retire(0), "prepare one first")], [.active]),
        ([.prepare(lead: .zero, sealing: true), .retire(0)], [.retired, .active]),
        ([.refused(.revoke(0), "--losing-devices only if it leaked")], [.active]),
        ([.revoke(0, losingDevices: true)], [.revoked, .active]),
        ([.revoke(0, losingDevices: true), .revoke(0), .pass(day * 10_000)], [.revoked, .active]),
        ([.rotate, .revoke(0, losingDevices: true)], [.revoked, .active]),
        ([.prepare(sealing: true), .revoke(0, losingDevices: true)], [.revoked, .active]),
        (
            [.prepare(automatic: true, sealing: true), .revoke(1, losingDevices: true), .pass(day)],
            [.active, .revoked]
        ),
        (
            [.revoke(0, losingDevices: true), .refused(.activate(0, beforeItsTime: true), "was revoked at")],
            [.revoked, .active]
        ),
    ]

    @Test(
        "What is done with signing keys, and what time does, leaves them in the states of the table",
        arguments: signingTable)
    func signing(_ steps: [Step], _ expected: [KeyDescription.State]) throws {
        #expect(try states(after: steps, .signing) == expected)
    }

    @Test(
        "What is done with sealing keys, and what time does, leaves them in the states of the table",
        arguments: sealingTable)
    func sealing(_ steps: [Step], _ expected: [KeyDescription.State]) throws {
        #expect(try states(after: steps, .sealing) == expected)
    }

    private func states(
        after steps: [Step], _ purpose: KeyDescription.Purpose
    ) throws -> [KeyDescription.State] {
        let clock = ManualClock()
        let keys = KeyStore.ephemeral()
        let host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent)
        _ = try Engine(
            registry: Registry([]),
            policies: .load([PolicyFile(name: "a.yaml", text: "tokens: {algorithm: ES256}")]), keys: keys, host: host)
        func list() throws -> [KeyDescription] {
            try keys.list(now: clock.now).filter { $0.purpose == purpose }.reversed()
        }
        var made: [String] = []
        func take(_ step: Step) throws {
            for key in try list() where !made.contains(key.id) { made.append(key.id) }
            switch step {
            case .prepare(let lead, let automatic, false):
                _ = try keys.prepareSigningKey(lead: lead, automatic: automatic, now: clock.now)
            case .prepare(let lead, let automatic, true):
                _ = try keys.prepareSealingKey(lead: lead, automatic: automatic, now: clock.now)
            case .activate(let number, let beforeItsTime):
                _ = try keys.activate(made[number], beforeItsTime: beforeItsTime, now: clock.now)
            case .retire(let number): _ = try keys.retire(made[number], now: clock.now)
            case .revoke(let number, let losingDevices):
                _ = try keys.revoke(made[number], losingDevices: losingDevices, now: clock.now)
            case .rotate: try keys.rotateSealingKey(now: clock.now)
            case .pass(let duration): clock.advance(by: duration)
            case .refused(let step, let words):
                let before = keys.changeMark
                let error = #expect(throws: KeyError.self) { try take(step) }
                #expect(error?.isRefusal == true)
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
                #expect(keys.changeMark == before, "a refusal changes nothing")
            }
        }
        for step in steps { try take(step) }
        let found = try list()
        #expect(found.count { $0.state == .active } == 1, "one key is in use at any time")
        return found.map(\.state)
    }

    @Test("What happens next by itself is told, with its time")
    func next() throws {
        let clock = ManualClock()
        let keys = KeyStore.ephemeral()
        try keys.rotateSealingKey(now: clock.now)
        _ = try keys.prepareSigningKey(TokenPolicy(algorithm: .es256), lead: .zero, automatic: true, now: clock.now)
        let automatic = try keys.prepareSigningKey(automatic: true, now: clock.now)
        let waiting = try keys.prepareSigningKey(lead: .seconds(60), now: clock.now)
        func next(_ id: String) throws -> KeyDescription.Next? {
            try keys.list(now: clock.now).first { $0.id == id }?.next
        }
        let first = try #require(try keys.list(now: clock.now).first { $0.state == .active && $0.purpose == .signing })
        let begins = clock.now + KeyStore.signingLead
        #expect(automatic.algorithm == "ES256", "another key is like the one that signs")
        #expect(try next(first.id) == .init(event: .retires, at: begins))
        #expect(try next(automatic.id) == .init(event: .begins, at: begins))
        #expect(try next(waiting.id) == .init(event: .activatable, at: clock.now + .seconds(60)))
        clock.set(begins)
        #expect(try next(first.id) == .init(event: .unpublished, at: begins + .seconds(8 * 86_400)))
        #expect(try next(automatic.id) == nil)
        #expect(try next(waiting.id) == nil)
        clock.advance(by: .seconds(8 * 86_400))
        #expect(try next(first.id) == nil)
        #expect(try keys.list(now: clock.now).first { $0.id == first.id }?.since == clock.now)
    }

    @Test("There are never so many signing keys that their set is too large for who reads it")
    func bound() throws {
        let keys = KeyStore.ephemeral()
        let now = ManualClock().now
        try keys.rotateSealingKey(now: now)
        let kind = TokenPolicy(algorithm: .es256)
        for _ in 0..<32 { _ = try keys.prepareSigningKey(kind, now: now) }
        let error = #expect(throws: KeyError.self) { _ = try keys.prepareSigningKey(kind, now: now) }
        #expect(error?.isRefusal == true)
    }

    @Test("Where there are no keys, none are made by looking for them or by working with them")
    func nothing() throws {
        let keys = KeyStore.ephemeral()
        let now = ManualClock().now
        #expect(throws: KeyError.self) { _ = try keys.list(now: now) }
        #expect(throws: KeyError.self) { _ = try keys.prepareSigningKey(now: now) }
        #expect(throws: KeyError.self) { _ = try keys.activate("abc", now: now) }
        #expect(keys.changeMark == nil)
    }
}
