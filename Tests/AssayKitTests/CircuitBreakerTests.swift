import AssayKit
import Synchronization
import Testing

@Suite("Circuit breaker")
struct CircuitBreakerTests {
    @Test("opens after failures in a row, lets one call through after the pause, and closes when it succeeds")
    func cycle() throws {
        let time = Mutex(Duration.zero)
        let clock = HostClock(
            now: { Instant(seconds: 0) }, uptime: { time.withLock { $0 } }, sleep: { _ in })
        let breaker = CircuitBreaker(threshold: 2, pause: .seconds(30), clock: clock)
        for _ in 0..<2 {
            guard case .admitted(let pass) = breaker.begin() else { throw CancellationError() }
            breaker.end(pass, .failure)
        }
        #expect(breaker.begin() == .refused(retryAfter: .seconds(30)))
        time.withLock { $0 = .seconds(30) }
        guard case .admitted(let probe) = breaker.begin() else { throw CancellationError() }
        #expect(breaker.state == .halfOpen)
        #expect(breaker.begin() == .refused(retryAfter: .seconds(30)))
        #expect(breaker.end(probe, .success) == .closed)
    }
}
