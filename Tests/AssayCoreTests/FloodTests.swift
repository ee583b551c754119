import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("What bounds many requests of strangers")
struct FloodTests {
    @Test(
        "An IPv4 address is one source in either form, and so is the /64 of an IPv6 address",
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
            ("2001:db8::1", "2001:db8:0:0:ffff::2", true), ("2001:db8::1", "2001:DB8::1", true),
            ("2001:db8::1", "2001:db8:0:1::1", false), ("::1", "127.0.0.1", false), ("a", "a", true), ("a", "b", false),
            ("", "a", false),
        ])
    func sources(_ one: String, _ other: String, _ areSame: Bool) {
        #expect((FloodSource(one) == FloodSource(other)) == areSame)
    }

    @Test("A key has its burst, then its rate, whatever other keys do")
    func rate() {
        let rate = KeyedRate<Int>(every: .seconds(2), burst: 3, capacity: 100)
        func passing(_ key: Int, at time: Duration) -> Int { (0..<10).count { _ in rate.take(key, at: time) == nil } }
        #expect(passing(1, at: .seconds(100)) == 3)
        #expect(passing(2, at: .seconds(100)) == 3)
        #expect(rate.wait(1, at: .seconds(100)) == .seconds(2))
        #expect(rate.take(1, at: .milliseconds(101_500)) == .milliseconds(500))
        #expect(passing(1, at: .seconds(104)) == 2)
        #expect(rate.isOwing(1, at: .seconds(104)))
        #expect(!rate.isOwing(1, at: .seconds(1000)))
        #expect(passing(1, at: .seconds(1000)) == 3)
    }

    @Test("A key that is seen now and then is remembered while many others come, in bounded memory")
    func memory() {
        let rate = KeyedRate<Int>(every: .seconds(3600), burst: 1, capacity: 1000)
        #expect(rate.take(-1, at: .zero) == nil)
        for key in 0..<1500 { _ = rate.take(key, at: .zero) }
        #expect(rate.take(-1, at: .zero) != nil)
        for key in 0..<100_000 { _ = rate.take(key, at: .zero) }
        #expect(rate.count <= 2000)
    }

    @Test("Events beyond the rates are summed by their kind, up to a number of kinds, and no event is in two sums")
    func sums() throws {
        let events = SampledEvents<Int>(RecordLimits(interval: .seconds(60)))
        let clock = ManualClock()
        #expect(events.take(now: clock.now, uptime: .zero, early: true) == nil)
        for number in 0..<1000 { events.add(number < 500 ? 1 : number, now: clock.now, uptime: .seconds(10)) }
        #expect(events.take(now: clock.now, uptime: .seconds(69)) == nil)
        let sum = try #require(events.take(now: clock.now, uptime: .seconds(70)))
        #expect(sum.total == 1000)
        #expect(sum.counts.count == SampledEvents<Int>.kindLimit)
        #expect(sum.counts.first?.kind == 1)
        #expect(sum.counts.first?.count == 500)
        #expect(sum.others == 500 - (SampledEvents<Int>.kindLimit - 1))
        #expect(events.take(now: clock.now, uptime: .seconds(200), early: true) == nil)
    }

    @Test("One peer cannot use up what all have, and many peers cannot go beyond what all have")
    func peers() {
        let events = SampledEvents<Int>(RecordLimits(strangersPerSecond: 10, appPerSecond: 10, peerPerSecond: 5))
        func admitted(_ peer: (Int) -> String?, _ group: SampledEvents<Int>.Group = .strangers) -> Int {
            (0..<1000).count { events.admits(group, peer: peer($0), at: .seconds(1)) }
        }
        #expect(admitted { _ in "192.0.2.1" } == 100)
        #expect(admitted { _ in "192.0.2.2" } == 100)
        #expect(admitted { "10.0.\($0 / 250).\($0 % 250)" } == 0)
        // What strangers did costs known apps nothing, and one app costs another one nothing.
        #expect(admitted({ "10.1.\($0 / 250).\($0 % 250)" }, .known("a")) == 200)
        #expect(admitted({ _ in nil }, .known("b")) == 200)
        let apps = (0..<100).map { app in admitted({ _ in nil }, .known(ExactText("app \(app)"))) }
        #expect(apps.reduce(0, +) == 1000 - 400)
    }
}
