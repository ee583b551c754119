import Testing

@testable import AssayTransport

@Suite("Requests that wait for a thread")
struct WaitingRequestsTests {
    /// A server with one thread that needs the same time for each request, and the requests that it refused.
    private struct Server {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        let work: Duration
        var queue: [Duration] = []
        /// When the thread is free.
        var free = Duration.zero
        var waits: [Duration] = []
        var refused = 0

        /// Lets requests arrive at regular times; the thread takes them up in their order.
        mutating func serve(from begin: Duration, to end: Duration, every pause: Duration) {
            var next = begin
            free = max(free, begin)
            while next < end {
                while let first = queue.first, max(free, first) <= next { take(first) }
                if waiting.arrive(at: start + next) == nil { queue.append(next) } else { refused += 1 }
                next += pause
            }
            while let first = queue.first { take(first) }
        }

        private mutating func take(_ arrived: Duration) {
            queue.removeFirst()
            let now = max(free, arrived)
            guard waiting.begin(arrived: start + arrived, at: start + now) else {
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

    @Test(
        "At twice its speed, a server still works all the time, and what it accepts waits for twice the limit at most")
    func overloaded() {
        var server = Server(work: .milliseconds(1))
        server.serve(from: .zero, to: .seconds(10), every: .microseconds(500))
        #expect(server.waits.count > 9_900, "one each millisecond")
        #expect(server.refused > 9_000)
        let late = server.waits.dropFirst(200).filter { $0 > .milliseconds(10) }
        #expect(late.isEmpty, "\(late.count) of \(server.waits.count) waited for long")
        let typical = server.waits.sorted()[server.waits.count / 2]
        #expect(typical > .milliseconds(3) && typical <= .milliseconds(6), "\(typical)")
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
    func alone() {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        for round in 0..<20 {
            let time = start + .milliseconds(150 * round)
            let isAccepted = waiting.arrive(at: time) == nil
            let isAnswered = waiting.begin(arrived: time, at: time + .milliseconds(60))
            #expect(isAccepted && isAnswered)
        }
        #expect(waiting.most == nil, "nothing had to be refused")
    }

    @Test("Refusals beyond twice as many as there are answers are delayed, by a second at most")
    func manyRefusals() {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        var arrived: [ContinuousClock.Instant] = []
        var delays: [Duration] = []
        // Five times as many as can begin, which is one each millisecond.
        for step in 0..<10_000 {
            let time = start + .microseconds(200 * step)
            if let delay = waiting.arrive(at: time) { delays.append(delay) } else { arrived.append(time) }
            if step % 5 == 0, !arrived.isEmpty { _ = waiting.begin(arrived: arrived.removeFirst(), at: time) }
        }
        #expect(delays.first == .zero)
        #expect(delays.max() == .seconds(1))
        #expect(delays.count > 6_000)
    }

    @Test("A server that was stopped for long does not take that for overload")
    func stopped() {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        let arrived = (0..<8).map { _ in waiting.arrive(at: start) == nil }
        let later = start + .seconds(5)
        let answered = (0..<8).map { _ in waiting.begin(arrived: start, at: later) }
        #expect(!arrived.contains(false) && !answered.contains(false))
        // The next ones do not wait.
        for round in 1...300 {
            let time = later + .milliseconds(round)
            let isAccepted = waiting.arrive(at: time) == nil
            let isAnswered = waiting.begin(arrived: time, at: time)
            #expect(isAccepted && isAnswered && waiting.most == nil)
        }
    }

    @Test("A request that never begins gives its place back")
    func abandoned() throws {
        let gate = OverloadGate(limit: .milliseconds(5), threads: 1)
        var ticket: OverloadGate.Ticket?
        if case .waits(let first) = gate.arrive() { ticket = first }
        #expect(ticket?.begin() == true)
        #expect(ticket?.begin() == true, "the second call counts nothing")
        if case .waits(let second) = gate.arrive() { ticket = second }
        #expect(gate.waiting == 1)
        ticket = nil
        #expect(gate.waiting == 0)
        #expect(gate.refused == 0)
    }
}
