import Testing

@testable import AssayClient

@Suite("The lifecycle of tokens, event by event")
struct LifecycleTests {
    private static let start = Moment(uptime: .seconds(1000))

    private func token(_ text: String, minutes: Int64 = 60, isLimitedUse: Bool = false) -> AppCheckToken {
        AppCheckToken(
            text: text, requested: Self.start, expires: Self.start + .minutes(minutes), isLimitedUse: isLimitedUse)
    }

    /// Effects as words, in their order.
    private func words(_ effects: [TokenLifecycle.Effect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .begin(let fetch): "begin \(fetch.id) \(fetch.purpose)"
            case .abandon(let id): "abandon \(id)"
            case .answer(let caller, .success(let token)): "answer \(caller) \(token.text)"
            case .answer(let caller, .failure(let error)): "answer \(caller) \(error.code)"
            case .publish(.success(let token)): "publish \(token.text)"
            case .publish(.failure(let error)): "publish \(error.code)"
            case .setTimer(let moment): moment.map { "timer \($0 - Self.start)" } ?? "no timer"
            }
        }
    }

    @Test("the first caller has storage looked into, and then a token fetched for all that wait")
    func restoresFirst() {
        var machine = TokenLifecycle(canRestore: true)
        #expect(words(machine.want(1, isForced: false, at: Self.start)) == ["begin 1 restore", "timer 120 s"])
        #expect(words(machine.want(2, isForced: true, at: Self.start)) == [])
        #expect(
            words(machine.finished(1, .success(nil), at: Self.start, jitter: 0)) == ["begin 2 session"])
        #expect(words(machine.want(3, isForced: false, at: Self.start)) == [])
        #expect(
            words(machine.finished(2, .success(token("a")), at: Self.start, jitter: 0)) == [
                "answer 1 a", "answer 2 a", "answer 3 a", "publish a", "no timer",
            ])
        #expect(words(machine.want(4, isForced: false, at: Self.start)) == ["answer 4 a"])
    }

    @Test("a stored token answers those who take one, and a fetch begins for those who force it")
    func restoredToken() {
        var machine = TokenLifecycle(canRestore: true)
        _ = machine.want(1, isForced: false, at: Self.start)
        _ = machine.want(2, isForced: true, at: Self.start)
        #expect(
            words(machine.finished(1, .success(token("old")), at: Self.start, jitter: 0)) == [
                "answer 1 old", "publish old", "begin 2 session",
            ])
        // The former one stays when the new one fails.
        let error = AppCheckError(.refused, "")
        #expect(
            words(machine.finished(2, .failure(error), at: Self.start, jitter: 0)) == [
                "answer 2 refused", "publish refused", "no timer",
            ])
        #expect(words(machine.want(3, isForced: false, at: Self.start)) == ["answer 3 old"])
        #expect(words(machine.want(4, isForced: true, at: Self.start)) == ["answer 4 refused"])
    }

    @Test("tokens for one use wait for a session token, one after the other, and a caller that leaves is passed over")
    func queue() {
        var machine = TokenLifecycle(canRestore: false)
        _ = machine.want(1, isForced: false, at: Self.start)
        for caller in 2...4 as ClosedRange<UInt64> {
            #expect(words(machine.wantLimitedUse(caller, at: Self.start)) == [])
        }
        #expect(words(machine.leave(3, at: Self.start)) == [])
        #expect(
            words(machine.finished(1, .success(token("a")), at: Self.start, jitter: 0)) == [
                "answer 1 a", "publish a", "begin 2 limitedUse(2)",
            ])
        #expect(
            words(machine.finished(2, .success(token("b", isLimitedUse: true)), at: Self.start, jitter: 0)) == [
                "answer 2 b", "begin 3 limitedUse(4)",
            ])
        // One that leaves while its token is made gets none, and neither does another.
        #expect(words(machine.leave(4, at: Self.start)) == [])
        #expect(
            words(machine.finished(3, .success(token("c", isLimitedUse: true)), at: Self.start, jitter: 0)) == [
                "answer 4 c", "no timer",
            ])
        #expect(machine.token?.text == "a")
    }

    @Test("a failure that begins a pause ends the wait of all")
    func pauseForAll() {
        var machine = TokenLifecycle(canRestore: false)
        _ = machine.wantLimitedUse(1, at: Self.start)
        _ = machine.wantLimitedUse(2, at: Self.start)
        _ = machine.want(3, isForced: false, at: Self.start)
        let error = AppCheckError(.throttled, "", status: 429, retryAfter: .seconds(30))
        #expect(
            words(machine.finished(1, .failure(error), at: Self.start, jitter: 0)) == [
                "answer 1 throttled", "answer 3 throttled", "answer 2 throttled", "no timer",
            ])
        let later = Self.start + .seconds(30)
        #expect(words(machine.want(4, isForced: false, at: later - .milliseconds(1))) == ["answer 4 throttled"])
        #expect(words(machine.want(5, isForced: false, at: later)) == ["begin 2 session", "timer 150 s"])
    }

    @Test("an outage of the network ends the wait of those of that fetch alone")
    func noPause() {
        var machine = TokenLifecycle(canRestore: false)
        _ = machine.wantLimitedUse(1, at: Self.start)
        _ = machine.wantLimitedUse(2, at: Self.start)
        #expect(
            words(machine.finished(1, .failure(AppCheckError(.unreachable, "")), at: Self.start, jitter: 0)) == [
                "answer 1 unreachable", "begin 2 limitedUse(2)",
            ])
    }

    @Test("a fetch that takes too long is given up, and its late end has no effect")
    func givenUp() {
        var machine = TokenLifecycle(canRestore: false)
        _ = machine.want(1, isForced: false, at: Self.start)
        #expect(words(machine.wake(at: Self.start + .seconds(119), jitter: 0)) == ["timer 120 s"])
        #expect(
            words(machine.wake(at: Self.start + .seconds(120), jitter: 0)) == [
                "abandon 1", "answer 1 timedOut", "publish timedOut",
            ])
        #expect(words(machine.finished(1, .success(token("late")), at: Self.start, jitter: 0)) == [])
        #expect(machine.token == nil)
    }

    @Test("each caller has a limit of its own, whatever it waits for, and says nothing of the server then")
    func ownLimits() {
        var machine = TokenLifecycle(canRestore: false)
        let second = Self.start + .seconds(30)
        #expect(words(machine.wantLimitedUse(1, at: Self.start)) == ["begin 1 limitedUse(1)", "timer 120 s"])
        #expect(words(machine.wantLimitedUse(2, at: second)) == [])
        #expect(words(machine.want(3, isForced: false, at: second)) == [])
        // The first one has had the whole limit of a fetch.
        #expect(
            words(machine.wake(at: Self.start + .seconds(120), jitter: 0)) == [
                "abandon 1", "answer 1 timedOut", "begin 2 session", "timer 150 s",
            ])
        #expect(
            words(machine.wake(at: second + .seconds(120), jitter: 0)) == [
                "answer 2 timedOut", "answer 3 timedOut", "timer 240 s",
            ])
        // The fetch goes on, and what it brings is kept.
        #expect(words(machine.wantLimitedUse(4, at: second + .seconds(130))) == [])
        #expect(
            words(machine.finished(2, .success(token("a")), at: second + .seconds(200), jitter: 0)) == [
                "publish a", "begin 3 limitedUse(4)", "timer 280 s",
            ])
        #expect(
            words(machine.wake(at: second + .seconds(250), jitter: 0)) == ["abandon 3", "answer 4 timedOut"])
        // The caller had waited for others: that is no failure, and the next one is served at once.
        #expect(
            words(machine.wantLimitedUse(5, at: second + .seconds(251))) == ["begin 4 limitedUse(5)", "timer 401 s"])
    }

    @Test("a timer for the refresh is set while somebody listens, and for the first of them a fetch begins")
    func listening() {
        var machine = TokenLifecycle(canRestore: false)
        #expect(words(machine.listen(at: Self.start)) == ["begin 1 session", "timer 120 s"])
        #expect(words(machine.listen(at: Self.start)) == [])
        #expect(
            words(machine.finished(1, .success(token("a")), at: Self.start, jitter: 0)) == [
                "publish a", "timer 2100 s",
            ])
        #expect(words(machine.unlisten(at: Self.start)) == [])
        #expect(words(machine.unlisten(at: Self.start)) == ["no timer"])
        #expect(words(machine.unlisten(at: Self.start)) == [])
        // Those who come back find the refresh overdue.
        #expect(
            words(machine.listen(at: Self.start + .minutes(58))) == ["begin 2 session", "timer 3600 s"])
    }

    @Test("no more than a thousand callers wait")
    func bounded() {
        var machine = TokenLifecycle(canRestore: false)
        for caller in 1...1000 as ClosedRange<UInt64> {
            let effects = words(machine.want(caller, isForced: true, at: Self.start))
            #expect(!effects.contains { $0.hasPrefix("answer") })
        }
        #expect(words(machine.want(1001, isForced: false, at: Self.start)) == ["answer 1001 tooManyCallers"])
        #expect(words(machine.wantLimitedUse(1002, at: Self.start)) == ["answer 1002 tooManyCallers"])
        #expect(machine.finished(1, .success(token("a")), at: Self.start, jitter: 0).count == 1002)
    }
}
