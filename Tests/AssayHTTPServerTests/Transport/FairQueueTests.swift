import AssayCore
import Testing

@testable import AssayHTTPServer

@Suite("Who is refused when a server has too many requests")
struct FairQueueTests {
    @Test(
        "Clients that send at random times are answered beside a flood that always sends the next request",
        arguments: [(1, 100), (1, 340), (10, 100), (100, 100), (4, 1000)], [5, 50])
    func peers(flood: (peers: Int, connections: Int), honest: Int) {
        var thread = Self.thread(under: flood, beside: honest)
        // Which connections are met is chance: what is over the bound is tried again.
        for _ in 0..<2 where thread.honest.share >= 0.05 { thread = Self.thread(under: flood, beside: honest) }
        #expect(thread.honest.sent > 400, "50 a second")
        #expect(thread.honest.share < 0.05 && thread.flood.share > 0.5, "\(thread.honest), \(thread.flood)")
        #expect(thread.flood.answered + thread.honest.answered > 17_500, "as many as without the choice")
    }

    private static func thread(under flood: (peers: Int, connections: Int), beside honest: Int) -> FloodedThread {
        var thread = FloodedThread()
        thread.add(flood.connections, peer: { "192.0.2.\($0 % flood.peers)" }, isFlood: true)
        thread.add(honest, peer: { "198.51.100.\($0)" }, isFlood: false, pause: .milliseconds(20 * honest))
        thread.serve(for: .seconds(13))
        return thread
    }

    @Test("The same behind a proxy that does not name its clients, whose connections are distinguished")
    func connections() {
        var thread = FloodedThread()
        thread.add(100, peer: { _ in "192.0.2.1" }, isFlood: true)
        thread.add(50, peer: { _ in "192.0.2.1" }, isFlood: false, pause: .milliseconds(250))
        thread.serve(for: .seconds(13))
        #expect(thread.honest.share < 0.05 && thread.flood.share > 0.5, "\(thread.honest), \(thread.flood)")
    }

    @Test("Without knowing who sends, the flood finds each place that becomes free, and is refused less than others")
    func unknown() {
        var thread = FloodedThread(knowsSources: false)
        thread.add(100, peer: { _ in "192.0.2.1" }, isFlood: true)
        thread.add(5, peer: { "198.51.100.\($0)" }, isFlood: false, pause: .milliseconds(100))
        thread.serve(for: .seconds(13))
        #expect(thread.honest.share > thread.flood.share)
    }

    @Test("Peers that send alike get alike, however many connections each has")
    func equal() {
        var thread = FloodedThread()
        thread.add(200, peer: { _ in "192.0.2.1" }, isFlood: true)
        thread.add(20, peer: { _ in "192.0.2.2" }, isFlood: false)
        thread.serve(for: .seconds(13))
        let (many, few) = (thread.flood.answered, thread.honest.answered)
        #expect(many < 2 * few && few < 2 * many, "\(many), \(few)")
    }

    @Test(
        "A request that gave up its place is refused when it begins, and leaves no count behind",
        arguments: [true, false])
    func displaced(begins: Bool) {
        var waiting = WaitingRequests(limit: .milliseconds(5), fewest: 2)
        let start = ContinuousClock.now
        let (greedy, modest) = (Connection(), Connection())
        let flood = RequestSource(peer: PeerGroup("192.0.2.1"), connection: ObjectIdentifier(greedy))
        let honest = RequestSource(peer: PeerGroup("192.0.2.2"), connection: ObjectIdentifier(modest))
        // Each request waits for 50 ms until the server counts as overloaded.
        var now = start
        while waiting.most == nil {
            let arrival = waiting.arrive(at: now, from: flood)
            now += .milliseconds(50)
            if case .waits(let place) = arrival { _ = waiting.begin(place, arrived: now - .milliseconds(50), at: now) }
        }
        var places: [WaitingRequests.Place] = []
        while case .waits(let place) = waiting.arrive(at: now, from: flood) { places.append(place) }
        let count = waiting.count
        #expect(places.count == count)
        guard case .waits(let own) = waiting.arrive(at: now, from: honest) else {
            Issue.record("the honest client is refused")
            return
        }
        #expect(waiting.count == count)
        if begins {
            let begun = places.map { waiting.begin($0, arrived: now, at: now) }
            #expect(begun.filter { !$0 }.count == 1)
        } else {
            for place in places { waiting.leave(place) }
        }
        #expect(waiting.count == 1)
        let isAnswered = waiting.begin(own, arrived: now, at: now)
        #expect(isAnswered && waiting.count == 0)
    }
}

/// An object that stands for a connection.
private final class Connection: Sendable {}

/// A thread that reads what has arrived, and then works for a slice, and clients that send to it.
///
/// Time is simulated.
private struct FloodedThread {
    struct Count {
        var sent = 0
        var refused = 0

        var answered: Int { sent - refused }
        var share: Double { Double(refused) / Double(max(sent, 1)) }
    }

    private struct Client {
        let source: RequestSource
        let isFlood: Bool
        /// The mean time between its requests; nil if it sends the next one when the last is answered.
        let pause: Duration?
        var next: Duration
    }

    private struct Waiting {
        let client: Int
        let arrived: Duration
        let place: WaitingRequests.Place
    }

    private static let (work, refusal, wayBack) = (
        Duration.microseconds(500), Duration.microseconds(25), Duration.microseconds(200)
    )
    private static let slice = Duration.milliseconds(1)

    /// Whether the server knows who sends.
    private let knowsSources: Bool
    private var waiting = WaitingRequests(limit: .milliseconds(20), fewest: 2)
    private let start = ContinuousClock.now
    private var clients: [Client] = []
    private var connections: [Connection] = []
    private var queue: [Waiting] = []
    private var random: UInt64 = 1
    private(set) var (flood, honest) = (Count(), Count())

    init(knowsSources: Bool = true) {
        self.knowsSources = knowsSources
    }

    mutating func add(_ count: Int, peer: (Int) -> String, isFlood: Bool, pause: Duration? = nil) {
        for number in 0..<count {
            let connection = Connection()
            connections.append(connection)
            let source = RequestSource(peer: PeerGroup(peer(number)), connection: ObjectIdentifier(connection))
            clients.append(
                Client(source: source, isFlood: isFlood, pause: pause, next: pause.map { spread($0) } ?? .zero))
        }
    }

    /// Serves for so long; what is counted begins after three seconds.
    mutating func serve(for time: Duration) {
        var now = Duration.zero
        while now < time {
            now = read(now)
            let end = now + Self.slice
            while now < end, let first = queue.first {
                queue.removeFirst()
                let isAccepted = waiting.begin(first.place, arrived: start + first.arrived, at: start + now)
                now += isAccepted ? Self.work : Self.refusal
                answer(first.client, isRefused: !isAccepted, at: now)
            }
            if queue.isEmpty, let next = clients.map(\.next).min(), next > now { now = next }
        }
    }

    /// Reads what has arrived, and returns how late it is then.
    private mutating func read(_ begin: Duration) -> Duration {
        var now = begin
        for index in clients.indices where clients[index].next <= begin {
            let client = clients[index]
            clients[index].next = client.pause.map { now + spread($0) } ?? .seconds(1_000_000)
            let source = knowsSources ? client.source : clients[0].source
            switch waiting.arrive(at: start + now, from: source) {
            case .waits(let place): queue.append(Waiting(client: index, arrived: now, place: place))
            case .refused(let delay):
                now += Self.refusal
                answer(index, isRefused: true, at: now + delay)
            }
        }
        return now
    }

    private mutating func answer(_ index: Int, isRefused: Bool, at time: Duration) {
        if clients[index].pause == nil { clients[index].next = time + Self.wayBack }
        guard time > .seconds(3) else { return }
        if clients[index].isFlood {
            flood.sent += 1
            flood.refused += isRefused ? 1 : 0
        } else {
            honest.sent += 1
            honest.refused += isRefused ? 1 : 0
        }
    }

    /// A time between zero and twice the mean.
    private mutating func spread(_ mean: Duration) -> Duration {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return mean * (Double(random >> 11) / Double(1 << 53) * 2)
    }
}
