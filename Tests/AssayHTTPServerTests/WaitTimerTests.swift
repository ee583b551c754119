import AssayCore
import AssayKit
import NIOCore
import NIOEmbedded
import Testing

@testable import AssayHTTPServer

@Suite("The alarm of a connection")
struct WaitTimerTests {
    private let loop = EmbeddedEventLoop()

    /// Counts how often the time was up.
    private final class Count {
        var value = 0
    }

    private func timer() -> (WaitTimer, Count) {
        let count = Count()
        return (WaitTimer(loop) { count.value += 1 }, count)
    }

    @Test("goes off when the time is up, and once")
    func once() {
        let (timer, count) = timer()
        timer.start(.seconds(10))
        loop.advanceTime(by: .milliseconds(9999))
        #expect(count.value == 0)
        loop.advanceTime(by: .milliseconds(1))
        #expect(count.value == 1)
        loop.advanceTime(by: .hours(1))
        #expect(count.value == 1)
    }

    @Test("is put off by what is waited for next, however often")
    func putOff() {
        let (timer, count) = timer()
        for _ in 0..<100 {
            timer.start(.seconds(10))
            loop.advanceTime(by: .seconds(7))
        }
        loop.advanceTime(by: .milliseconds(2999))
        #expect(count.value == 0)
        loop.advanceTime(by: .milliseconds(1))
        #expect(count.value == 1)
    }

    @Test("goes off earlier when what is waited for next has less time")
    func sooner() {
        let (timer, count) = timer()
        timer.start(.seconds(60))
        loop.advanceTime(by: .seconds(10))
        timer.start(.seconds(5))
        loop.advanceTime(by: .seconds(5))
        #expect(count.value == 1)
        loop.advanceTime(by: .seconds(60))
        #expect(count.value == 1)
    }

    @Test("does not go off while nothing is waited for, and does for what comes after that")
    func nothing() {
        let (timer, count) = timer()
        timer.start(.seconds(10))
        timer.start(nil)
        loop.advanceTime(by: .seconds(60))
        #expect(count.value == 0)
        timer.start(.seconds(10))
        loop.advanceTime(by: .seconds(10))
        #expect(count.value == 1)
    }

    @Test("can be set again by whoever it told")
    func again() {
        let count = Count()
        var timer: WaitTimer?
        timer = WaitTimer(loop) {
            count.value += 1
            timer?.start(.seconds(10))
        }
        timer?.start(.seconds(10))
        loop.advanceTime(by: .seconds(30))
        #expect(count.value == 3)
        timer?.stop()
    }

    @Test("that was stopped tells nobody, and keeps nobody")
    func stopped() {
        weak var kept: Count?
        let timer: WaitTimer
        do {
            let (made, count) = self.timer()
            timer = made
            kept = count
        }
        #expect(kept != nil)
        timer.start(.seconds(10))
        timer.stop()
        #expect(kept == nil)
        timer.start(.seconds(10))
        loop.advanceTime(by: .seconds(10))
    }
}
