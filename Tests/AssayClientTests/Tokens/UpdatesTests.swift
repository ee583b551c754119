import Testing

@testable import AssayClient

@Suite("Updates")
struct UpdatesTests {
    @Test("a listener gets a token at once, and a new one after half of its life and five minutes")
    func refreshes() async throws {
        let scene = try ClientScene()
        var updates = scene.appCheck.updates.makeAsyncIterator()
        let first = try #require(await updates.next()).get()
        try await eventually("the refresh is planned") { scene.clock.sleeping == [first.requested + .minutes(35)] }
        scene.clock.advance(by: .minutes(35))
        let second = try #require(await updates.next()).get()
        #expect(first.text != second.text)
        #expect(try await scene.appCheck.token().text == second.text)
    }

    @Test("a listener that comes later gets the present token")
    func presentToken() async throws {
        let scene = try ClientScene()
        let token = try await scene.appCheck.token()
        var updates = scene.appCheck.updates.makeAsyncIterator()
        #expect(try #require(await updates.next()).get().text == token.text)
        #expect(scene.service.requests.count == 1)
    }

    @Test("nothing is refreshed when nobody listens any more")
    func stops() async throws {
        let scene = try ClientScene()
        let appCheck = scene.appCheck
        let listener = Task { for await _ in appCheck.updates {} }
        try await eventually("the refresh is planned") {
            scene.service.requests.count == 1 && scene.clock.sleeping.count == 1
                && scene.clock.sleeping.first.map { $0 - scene.clock.now > .minutes(3) } == true
        }
        listener.cancel()
        await listener.value
        try await eventually("no timer") { scene.clock.sleeping.isEmpty }
        scene.clock.advance(by: .minutes(120))
        try await Task.sleep(for: .milliseconds(20))
        #expect(scene.service.requests.count == 1)
    }

    @Test("an iterator that is dropped listens no more")
    func dropped() async throws {
        let scene = try ClientScene()
        var updates: TokenUpdates.Iterator? = scene.appCheck.updates.makeAsyncIterator()
        _ = await updates?.next()
        try await eventually("the refresh is planned") { !scene.clock.sleeping.isEmpty }
        updates = nil
        try await eventually("no timer") { scene.clock.sleeping.isEmpty }
    }

    @Test("failures are told, and retried a minute apart and then more rarely")
    func retries() async throws {
        let scene = try ClientScene(FakeService { _ in throw Unreachable() })
        var updates = scene.appCheck.updates.makeAsyncIterator()
        var waits: [Interval] = []
        for _ in 0..<7 {
            let update = await updates.next()
            guard case .failure(let error)? = update else {
                Issue.record("\(String(describing: update))")
                return
            }
            #expect(error.code == .unreachable)
            let start = scene.clock.now
            try await eventually("a retry is planned") {
                scene.clock.sleeping.first.map { $0 - start != .minutes(2) || waits.count == 1 } == true
            }
            let wait = try #require(scene.clock.sleeping.first) - start
            waits.append(wait)
            scene.clock.advance(by: wait)
        }
        #expect(waits == [1, 2, 4, 8, 16, 16, 16].map { .minutes($0) })
    }

    @Test("each listener gets the updates; a slow one the newest")
    func listeners() async throws {
        let scene = try ClientScene()
        var quick = scene.appCheck.updates.makeAsyncIterator()
        var slow = scene.appCheck.updates.makeAsyncIterator()
        _ = try #require(await quick.next()).get()
        _ = try await scene.appCheck.token(forcingRefresh: true)
        let newest = try await scene.appCheck.token(forcingRefresh: true)
        #expect(try #require(await slow.next()).get().text == newest.text)
        #expect(try #require(await quick.next()).get().text == newest.text)
    }

    private struct Unreachable: Error {}
}
