import AssayCore
import AssayTesting
import Testing

@Suite("The time by which something is removed for ever")
struct SettledTimeTests {
    private let clock = ManualClock()

    @Test("It is the time of day while time only passes, whatever passes between two readings")
    func steady() {
        let settled = SettledTime(clock.hostClock)
        for step in [0, 1, 599, 600, 86_400] {
            clock.advance(by: .seconds(step))
            #expect(settled.now == clock.now)
            #expect(settled.lead == .zero)
        }
    }

    @Test("A jump forward that is taken back within ten minutes changes nothing", arguments: [0, 3, 599])
    func glitch(_ seconds: Int) {
        let settled = SettledTime(clock.hostClock)
        let before = clock.now
        clock.jump(by: .seconds(86_400))
        #expect(settled.now == before)
        #expect(settled.lead == .seconds(86_400))
        clock.advance(by: .seconds(seconds))
        #expect(settled.now == before + .seconds(seconds))
        clock.jump(by: .seconds(-86_400))
        #expect(settled.now == clock.now)
        #expect(settled.lead == .zero)
        clock.jump(by: .seconds(86_400))
        clock.advance(by: .seconds(1))
        #expect(settled.now == before + .seconds(seconds + 1), "each jump begins its own ten minutes")
    }

    @Test("A jump forward is believed after ten minutes, by the least time that was read meanwhile")
    func lasting() {
        let settled = SettledTime(clock.hostClock)
        clock.jump(by: .seconds(3600))
        _ = settled.now
        clock.advance(by: .seconds(300))
        clock.jump(by: .seconds(86_400))
        _ = settled.now
        clock.advance(by: .seconds(300))
        #expect(settled.now == clock.now - .seconds(86_400))
        clock.advance(by: .seconds(599))
        #expect(settled.now == clock.now - .seconds(86_400))
        clock.advance(by: .seconds(1))
        #expect(settled.now == clock.now)
    }

    @Test("A jump back is followed at once")
    func back() {
        let settled = SettledTime(clock.hostClock)
        clock.jump(by: .seconds(-86_400))
        #expect(settled.now == clock.now)
    }

    @Test("A clock that is not trusted yet is believed when it has run for ten minutes")
    func start() {
        let settled = SettledTime(clock.hostClock, isTrusted: false)
        #expect(settled.now == Instant(milliseconds: .min))
        clock.advance(by: .seconds(599))
        #expect(settled.now == Instant(milliseconds: .min))
        #expect(settled.lead == .zero)
        clock.jump(by: .seconds(-86_400))
        clock.advance(by: .seconds(1))
        #expect(settled.now == clock.now)
    }
}
