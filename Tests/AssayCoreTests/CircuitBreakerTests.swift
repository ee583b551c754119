import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("Circuit breaker")
struct CircuitBreakerTests {
    private let clock = ManualClock()
    private let breaker: CircuitBreaker

    init() {
        breaker = CircuitBreaker(threshold: 3, pause: .seconds(30), clock: clock.hostClock)
    }

    private func pass() throws -> CircuitBreaker.Pass {
        guard case .admitted(let pass) = breaker.begin() else { throw Refused() }
        return pass
    }

    private struct Refused: Error {}

    private func open() throws {
        for _ in 0..<3 { breaker.end(try pass(), .failure) }
        #expect(breaker.state == .open)
    }

    @Test("Failures in a row open it, and the last of them says so")
    func opens() throws {
        #expect(breaker.end(try pass(), .failure) == nil)
        #expect(breaker.end(try pass(), .failure) == nil)
        #expect(breaker.end(try pass(), .failure) == .open)
        #expect(breaker.begin() == .refused(retryAfter: .seconds(30)))
        clock.advance(by: .seconds(10))
        #expect(breaker.begin() == .refused(retryAfter: .seconds(20)))
    }

    @Test("A success between failures begins the count anew, a call without an outcome does not")
    func counts() throws {
        for outcome in [CircuitBreaker.Outcome.failure, .failure, .success, .failure, .unknown, .failure] {
            #expect(breaker.end(try pass(), outcome) == nil)
        }
        #expect(breaker.state == .closed)
        #expect(breaker.end(try pass(), .failure) == .open)
    }

    @Test("After the pause one call is let through, and decides for all", arguments: [true, false])
    func probes(_ succeeds: Bool) throws {
        try open()
        clock.advance(by: .seconds(30))
        let probe = try pass()
        #expect(breaker.state == .halfOpen)
        #expect(breaker.begin() == .refused(retryAfter: .seconds(30)))
        #expect(breaker.end(probe, succeeds ? .success : .failure) == (succeeds ? .closed : .open))
        #expect(breaker.begin() == .refused(retryAfter: .seconds(30)) || succeeds)
    }

    @Test("A probe that was given up leaves its place to the next call at once")
    func givenUp() throws {
        try open()
        clock.advance(by: .seconds(30))
        #expect(breaker.end(try pass(), .unknown) == nil)
        #expect(breaker.end(try pass(), .success) == .closed)
    }

    @Test("A probe that never comes back is followed by another after the pause")
    func lost() throws {
        try open()
        clock.advance(by: .seconds(30))
        let first = try pass()
        clock.advance(by: .seconds(30))
        let second = try pass()
        #expect(breaker.end(first, .failure) == nil)
        #expect(breaker.state == .halfOpen)
        #expect(breaker.end(second, .success) == .closed)
    }

    @Test("What became of a call that began before the breaker changed changes nothing")
    func late() throws {
        let old = try pass()
        try open()
        #expect(breaker.end(old, .success) == nil)
        #expect(breaker.state == .open)
        clock.advance(by: .seconds(30))
        breaker.end(try pass(), .success)
        #expect(breaker.end(old, .failure) == nil)
        #expect(breaker.end(try pass(), .failure) == nil)
        #expect(breaker.end(try pass(), .failure) == nil)
        #expect(breaker.state == .closed)
    }
}
