import AssayCore
import Testing

@testable import AssayHTTPServer

/// All requests here are those of one client.
private let client = RequestSource(peer: .unknown, connection: ObjectIdentifier(Client()))

private final class Client {}

extension WaitingRequests.Arrival {
    fileprivate var place: WaitingRequests.Place? {
        if case .waits(let place) = self { place } else { nil }
    }
}

@Suite("Requests that wait for a thread")
struct WaitingRequestsTests {
    /// A server with one thread that needs the same time for each request, and the requests that it refused.
    private struct Server {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        let work: Duration
        var queue: [(arrived: Duration, place: WaitingRequests.Place)] = []
        /// When the thread is free.
        var free = Duration.zero
        var waits: [Duration] = []
        var refused = 0

        /// Lets requests arrive with pauses between them; the thread takes them up in their order.
        mutating func serve(from begin: Duration, to end: Duration, every pause: @autoclosure () -> Duration) {
            var next = begin
            free = max(free, begin)
            while next < end {
                while let first = queue.first, max(free, first.arrived) <= next { take(first) }
                if let place = waiting.arrive(at: start + next, from: client).place {
                    queue.append((next, place))
                } else {
                    refused += 1
                }
                next += pause()
            }
            while let first = queue.first { take(first) }
        }

        private mutating func take(_ request: (arrived: Duration, place: WaitingRequests.Place)) {
            queue.removeFirst()
            let arrived = request.arrived
            let now = max(free, arrived)
            guard waiting.begin(request.place, arrived: start + arrived, at: start + now) else {
                refused += 1
                return
            }
            waits.append(now - arrived)
            free = now + work
        }
    }

    @Test("A server that keeps up refuses nothing, and neither does one with a short burst")
    func keepsUp() {
        var server = Server(work: .milliseconds(1))
        server.serve(from: .zero, to: .seconds(2), every: .microseconds(1050))
        #expect(server.refused == 0)
        // 80 at once, which is the work of 80 ms.
        server.serve(from: .seconds(3), to: .seconds(3) + .milliseconds(8), every: .microseconds(100))
        #expect(server.refused == 0)
        #expect(server.waiting.most == nil)
    }

    @Test("At twice its speed, a server still works all the time, and soon what it accepts hardly waits")
    func overloaded() {
        var server = Server(work: .milliseconds(1))
        server.serve(from: .zero, to: .seconds(10), every: .microseconds(500))
        #expect(server.waits.count > 9_900, "one each millisecond")
        #expect(server.refused > 9_000)
        #expect(server.waiting.allowedWait == .milliseconds(1))
        // The first second is for finding out.
        let late = server.waits.dropFirst(1000).filter { $0 > .milliseconds(2) }
        #expect(late.isEmpty, "\(late.count) of \(server.waits.count) waited for long")
    }

    @Test("A server that is a little too slow lets requests wait for the limit, and refuses the rest")
    func slightlyOverloaded() {
        var server = Server(work: .milliseconds(1))
        server.serve(from: .zero, to: .seconds(10), every: .microseconds(900))
        #expect(server.waits.count > 9_900)
        #expect(server.waiting.allowedWait == .milliseconds(5))
        let late = server.waits.dropFirst(1000).filter { $0 > .milliseconds(10) }
        #expect(late.isEmpty, "\(late.count) of \(server.waits.count) waited for long")
    }

    @Test("After a flood, a server that can keep up again refuses nothing although requests come at random times")
    func randomAfterFlood() {
        var server = Server(work: .milliseconds(1))
        server.serve(from: .zero, to: .seconds(1), every: .microseconds(250))
        #expect(server.waiting.allowedWait == .milliseconds(1))
        var random: UInt64 = 1
        // From 1 µs to 2.5 ms, so 1.25 ms on the average.
        func pause() -> Duration {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return .microseconds(1 + Int(random >> 33) % 2500)
        }
        server.serve(from: .seconds(1), to: .seconds(3), every: pause())
        let refused = server.refused
        server.serve(from: .seconds(3), to: .seconds(13), every: pause())
        #expect(server.refused == refused)
        #expect(server.waiting.most == nil)
    }

    @Test("When the load is over, everything is accepted again")
    func recovers() {
        var server = Server(work: .milliseconds(1))
        server.serve(from: .zero, to: .seconds(1), every: .microseconds(250))
        #expect(server.waiting.most != nil)
        let refused = server.refused
        #expect(refused > 1000)
        server.serve(from: .milliseconds(1300), to: .seconds(3), every: .microseconds(1100))
        #expect(server.refused == refused)
        #expect(server.waiting.most == nil && server.waiting.count == 0)
    }

    @Test("A lone request is answered however late it begins, since others use the processors then")
    func alone() throws {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        for round in 0..<20 {
            let time = start + .milliseconds(150 * round)
            let place = try #require(waiting.arrive(at: time, from: client).place)
            let isAnswered = waiting.begin(place, arrived: time, at: time + .milliseconds(60))
            #expect(isAnswered)
        }
        #expect(waiting.most == nil, "nothing had to be refused")
    }

    @Test("Refusals beyond twice as many as there are answers are delayed, by a second at most")
    func manyRefusals() {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        var arrived: [(time: ContinuousClock.Instant, place: WaitingRequests.Place)] = []
        var delays: [Duration] = []
        // Five times as many as can begin, which is one each millisecond.
        for step in 0..<10_000 {
            let time = start + .microseconds(200 * step)
            switch waiting.arrive(at: time, from: client) {
            case .waits(let place): arrived.append((time, place))
            case .refused(let delay): delays.append(delay)
            }
            if step % 5 == 0, !arrived.isEmpty {
                let first = arrived.removeFirst()
                _ = waiting.begin(first.place, arrived: first.time, at: time)
            }
        }
        #expect(delays.first == .zero)
        #expect(delays.max() == .seconds(1))
        #expect(delays.count > 6_000)
    }

    @Test("A server that was stopped for long does not take that for overload")
    func stopped() throws {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        let places = (0..<8).compactMap { _ in waiting.arrive(at: start, from: client).place }
        let later = start + .seconds(5)
        let answered = places.map { waiting.begin($0, arrived: start, at: later) }
        #expect(places.count == 8 && !answered.contains(false))
        // The next ones do not wait.
        for round in 1...300 {
            let time = later + .milliseconds(round)
            let place = try #require(waiting.arrive(at: time, from: client).place)
            let isAnswered = waiting.begin(place, arrived: time, at: time)
            #expect(isAnswered && waiting.most == nil)
        }
    }

    @Test("A request that never begins gives its place back")
    func abandoned() throws {
        let gate = OverloadGate(limit: .milliseconds(5), threads: 1)
        var ticket: OverloadGate.Ticket?
        if case .waits(let first) = gate.arrive(from: client) { ticket = first }
        #expect(ticket?.begin() == true)
        #expect(ticket?.begin() == true, "the second call counts nothing")
        if case .waits(let second) = gate.arrive(from: client) { ticket = second }
        #expect(gate.waiting == 1)
        ticket = nil
        #expect(gate.waiting == 0)
        #expect(gate.refused == 0)
    }
}
