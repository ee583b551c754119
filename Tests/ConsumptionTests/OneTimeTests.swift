import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

/// What can happen between the use of a thing and its second use.
enum OneTimeEvent: String, CaseIterable, Sendable {
    /// Nothing: the same server.
    case nothing
    /// A server whose state was only in memory is started again.
    case restartWithMemory
    /// The database is gone while its server runs, and the server is started on a new one later.
    case lostState
    /// A backup is restored that was made before the use.
    case restoredBackup
    /// The clock of the server is thirty days ahead for a moment.
    case clockAheadForAMoment
    /// The policies accept things for longer than those under which it was used.
    case raisedLimit
    /// It is shown to another server of the same state.
    case anotherServer

    var keepsState: Bool {
        switch self {
        case .nothing, .clockAheadForAMoment, .raisedLimit, .anotherServer: true
        case .restartWithMemory, .lostState, .restoredBackup: false
        }
    }
}

@Suite("Everything that is valid once is accepted once, whatever happens in between")
struct OneTimeTests {
    @Test(
        "A thing that was used is refused after every event, and a new one is accepted",
        arguments: OneTimeSubject.allCases, OneTimeEvent.allCases)
    func table(_ subject: OneTimeSubject, _ event: OneTimeEvent) async throws {
        let world = try OneTimeWorld()
        let store = JournalStore(world.clock)
        let engine = try world.start(store)
        // The state begins with the first call, and a minute later no clock that is allowed can be in doubt about it.
        _ = try await world.make(.challenge, engine)
        world.clock.advance(by: .seconds(61))
        let backedUp = store.count

        let item = try await world.make(subject, engine)
        #expect(try await item.show(engine) == .accepted, "the first use")
        // An entry that ends late, beside the one of the use: what is removed there must not speak for what comes.
        let space = try #require(store.lastSpace)
        let late = world.clock.now + .seconds(7 * 86_400)
        #expect(try await store.insert(StateKey(space, "late"), value: [], expires: late))

        let next = try await after(event, world, engine, store, backedUp, subject)
        let again = try await item.show(next)
        if subject.tellsTime || event.keepsState {
            #expect(again.isRefusedAsUsed, "the second use: \(again)")
            if let code = subject.codeBeforeState, !event.keepsState {
                #expect(again.code == code, "nobody is blamed for a lost state")
            } else if !event.keepsState, subject != .clientAssertion {
                // The consumer of a client assertion says its own words.
                let detail = try #require(world.sink.records.last?.detail, "the record has the true cause")
                #expect(detail.contains("before the state began"), "\(detail)")
            }
        } else {
            #expect(again == .accepted, "a thing without a time is forgotten with the state, as the documentation says")
        }
        world.clock.advance(by: .seconds(61))
        let fresh = try await world.make(subject, next)
        #expect(try await fresh.show(next) == .accepted, "a new one")
        #expect(try await fresh.show(next).isRefusedAsUsed, "a new one, again")
    }

    /// Lets an event happen; returns the server that is there afterwards.
    private func after(
        _ event: OneTimeEvent, _ world: OneTimeWorld, _ engine: Engine, _ store: JournalStore, _ backedUp: Int,
        _ subject: OneTimeSubject
    ) async throws -> Engine {
        // No two servers, and no two states, begin in the millisecond of a use.
        world.clock.advance(by: .milliseconds(1))
        switch event {
        case .nothing: return engine
        case .restartWithMemory: return try world.start(JournalStore(world.clock))
        case .lostState:
            world.clock.advance(by: .seconds(2))
            return try world.start(JournalStore(world.clock))
        case .restoredBackup:
            return try world.start(try await store.backup(of: backedUp, world.clock))
        case .clockAheadForAMoment:
            world.clock.jump(by: .seconds(30 * 86_400))
            try await write(store, world.clock)
            _ = try? await world.make(subject, engine).show(engine)
            world.clock.advance(by: .seconds(3))
            try await write(store, world.clock)
            world.clock.jump(by: .seconds(-30 * 86_400))
            return engine
        case .raisedLimit:
            world.clock.advance(by: subject.waitForRaisedLimit)
            return try world.start(store, isRaised: true)
        case .anotherServer: return try world.start(store)
        }
    }

    /// Writes as much as makes a store remove everything that has expired.
    private func write(_ store: JournalStore, _ clock: ManualClock) async throws {
        for index in 0..<50 {
            try await store.put(StateKey("other", "\(index)"), value: [], expires: clock.now + .seconds(60))
        }
    }

    @Test(
        "While entries are missing that a clock removed which was ahead for long, nothing is accepted, nobody is blamed, and the server says so",
        arguments: OneTimeSubject.allCases)
    func removed(_ subject: OneTimeSubject) async throws {
        let world = try OneTimeWorld()
        let store = JournalStore(world.clock)
        let engine = try world.start(store)
        _ = try await world.make(.challenge, engine)
        world.clock.advance(by: .seconds(61))
        let item = try await world.make(subject, engine)
        #expect(try await item.show(engine) == .accepted)
        let space = try #require(store.lastSpace)
        let late = world.clock.now + .seconds(7 * 86_400)
        #expect(try await store.insert(StateKey(space, "late"), value: [], expires: late))
        #expect(await engine.readiness == .ready)

        world.clock.jump(by: .seconds(30 * 86_400))
        try await write(store, world.clock)
        guard case .degraded(let ahead) = await engine.readiness else {
            Issue.record("the jump is not in the readiness")
            return
        }
        #expect(ahead.contains("the time of day jumped forward by 2592000 seconds"))
        world.clock.advance(by: .seconds(601))
        for _ in 0..<3 { try await write(store, world.clock) }
        world.clock.jump(by: .seconds(-30 * 86_400 - 601))
        #expect(try await !item.show(engine).isAccepted)
        world.clock.advance(by: .seconds(1))
        let fresh = try await world.make(subject, engine)
        let answer = try await fresh.show(engine)
        switch answer {
        case .accepted: Issue.record("it is accepted")
        case .refused(let reason): Issue.record("a client is blamed: \(reason)")
        case .undecided(let detail): #expect(detail.contains("a clock was ahead"))
        }
        guard case .degraded(let cause) = await engine.readiness else {
            Issue.record("the missing entries are not in the readiness")
            return
        }
        #expect(cause.contains("a clock was ahead"))
    }
}
