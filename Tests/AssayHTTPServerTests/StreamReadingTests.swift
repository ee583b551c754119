import AssayCore
import AssayHTTP
@testable import AssayHTTPServer
import AssayKit
import NIOHPACK
import Testing

/// The decisions about streams of HTTP/2 and their connection, event by event.
@Suite("Decisions about streams")
struct StreamReadingTests {
    private static func limits(_ change: (inout HTTPLimits) -> Void = { _ in }) -> HTTPLimits {
        var limits = HTTPLimits()
        change(&limits)
        return limits
    }

    private func connection(
        _ limits: HTTPLimits = limits(), _ budget: TransportBudget = TransportBudget(), isProxy: Bool = false
    ) -> ConnectionStreams {
        var streams = ConnectionStreams(limits: limits, room: PeerBudget(budget, isBounded: !isProxy))
        #expect(streams.begin().wait == .firstByte)
        return streams
    }

    private func begin(
        _ reading: inout StreamReading, in streams: inout ConnectionStreams, ends: Bool = false,
        _ more: [(String, String)] = []
    ) -> StreamReading.Actions {
        let fields = HPACKHeaders(
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "a")] + more)
        return reading.received(isHead: false, ends: ends, in: &streams) { () throws(HTTPFault) in
            try StreamRequest(fields, limits: HTTPLimits())
        }
    }

    private func input(_ actions: StreamReading.Actions) -> HTTPInput {
        HTTPInput(
            content: actions.content ?? .fault(.malformed, nil), omitsBody: false, endsConnection: false,
            announcesKeepAlive: false)
    }

    private func fault(_ actions: StreamReading.Actions) -> HTTPFault? {
        guard case .fault(let fault, _)? = actions.content else { return nil }
        return fault
    }

    @Test("a request is read, answered and delivered, and holds nothing afterwards")
    func whole() {
        let budget = TransportBudget()
        var streams = connection(HTTPLimits(), budget)
        var reading = StreamReading(limits: HTTPLimits())
        let opened = streams.opened(1)
        #expect(opened.wait == .answer)
        #expect(opened.place == .last)
        let begun = begin(&reading, in: &streams, [("expect", "100-continue")])
        #expect(begun.timer == .started(.body))
        #expect(begun.sendsContinue)
        #expect(reading.received(body: [1, 2], ends: false, in: &streams).content == nil)
        let passed = reading.received(body: [3], ends: true, in: &streams)
        guard case .request(let request)? = passed.content else {
            Issue.record("it is not passed on")
            return
        }
        #expect(request.body == [1, 2, 3])
        #expect(passed.timer == .stopped)
        #expect(streams.passed(input(passed)).place == .none)
        #expect(reading.replied(bytes: 10, in: &streams).sends == true)
        let (left, _) = reading.delivered(in: &streams)
        #expect(left.timer == .stopped)
        #expect(reading.end(in: &streams)?.wait == .nextByte)
        #expect(reading.end(in: &streams) == nil)
        #expect(budget.bytes == 0 && budget.streams == 0)
    }

    @Test("a client that continues sending after its reply has a while, and then the stream is reset")
    func early() {
        var streams = connection()
        var reading = StreamReading(limits: Self.limits { $0.bodyBytes = 2 })
        _ = streams.opened(1)
        _ = begin(&reading, in: &streams)
        let refused = reading.received(body: [1, 2, 3], ends: false, in: &streams)
        #expect(fault(refused) == .bodyTooLarge(limit: 2))
        _ = streams.passed(input(refused))
        #expect(reading.replied(bytes: 10, in: &streams).sends == true)
        #expect(reading.delivered(in: &streams).0.timer == .started(.leave))
        #expect(reading.expire().reset == .noError)
    }

    @Test("the reply of a stream that is gone is not sent, and what it held is free")
    func gone() {
        let limits = Self.limits { $0.streamBytes = 200 }
        var streams = connection(limits)
        var reading = StreamReading(limits: limits)
        _ = streams.opened(1)
        let passed = begin(&reading, in: &streams, ends: true)
        _ = streams.passed(input(passed))
        _ = reading.end(in: &streams)
        #expect(reading.replied(bytes: 10, in: &streams).sends == false)
        #expect(streams.hold(200) == true)
    }

    @Test("more than the connection may hold is answered with 429")
    func full() {
        let limits = Self.limits { $0.streamBytes = 100 }
        var streams = connection(limits)
        var reading = StreamReading(limits: limits)
        _ = streams.opened(1)
        _ = begin(&reading, in: &streams)
        #expect(
            fault(reading.received(body: Array(repeating: 1, count: 100), ends: false, in: &streams))
                == .tooManyRequests)
    }

    @Test("without room in the process a stream is refused so that the client may send it again")
    func refused() {
        var streams = connection(HTTPLimits(), TransportBudget(bytes: 1000, streams: 1))
        var reading = StreamReading(limits: HTTPLimits())
        _ = streams.opened(1)
        #expect(begin(&reading, in: &streams, ends: true).reset == .refused)
    }

    @Test("a client is asked to leave, and the connection ends when it knows and all is answered")
    func quiescing() {
        var streams = connection()
        var reading = StreamReading(limits: HTTPLimits())
        _ = streams.opened(7)
        let passed = begin(&reading, in: &streams, ends: true)
        _ = streams.passed(input(passed))
        #expect(streams.quiesce().asksToLeave == true)
        #expect(streams.quiesce().asksToLeave == false)
        #expect(streams.acknowledged().goodbye == nil)
        #expect(streams.isOpen)
        #expect(reading.replied(bytes: 0, in: &streams).sends == true)
        _ = reading.delivered(in: &streams)
        let last = reading.end(in: &streams)
        #expect(last?.goodbye == .noError)
        #expect(last?.shutsInput == true)
        #expect(last?.closesSoon == true)
        #expect(streams.lastStream == 7)
    }

    @Test("an idle connection is asked to leave, and closed when its client does not answer")
    func idle() {
        var streams = connection()
        let asked = streams.expire()
        #expect(asked.asksToLeave)
        #expect(asked.wait == .leave)
        let over = streams.expire()
        #expect(over.goodbye == .noError)
        #expect(over.closesSoon)
    }

    @Test("refused requests end the connection: gently as many as streams, and with ENHANCE_YOUR_CALM twice as many")
    func refusals() {
        var streams = connection(Self.limits { $0.streams = 3 })
        let input = HTTPInput(
            content: .fault(.malformed, nil), omitsBody: false, endsConnection: false, announcesKeepAlive: false)
        var asked: [Int] = []
        var ended: [Int] = []
        for number in 1...8 {
            let actions = streams.passed(input)
            if actions.asksToLeave { asked.append(number) }
            if case .enhanceYourCalm? = actions.goodbye { ended.append(number) }
            _ = streams.answered()
        }
        #expect(asked == [3])
        #expect(ended == [6])
        #expect(!streams.isOpen)
    }

    @Test("refused requests of a trusted proxy's clients do not end its connection, which others use")
    func refusalsOfProxy() {
        var streams = connection(Self.limits { $0.streams = 3 }, isProxy: true)
        let input = HTTPInput(
            content: .fault(.malformed, nil), omitsBody: false, endsConnection: false, announcesKeepAlive: false)
        for _ in 0..<20 {
            let actions = streams.passed(input)
            #expect(!actions.asksToLeave && actions.goodbye == nil)
            _ = streams.answered()
        }
        #expect(streams.isOpen)
    }

    @Test("a reply that is not read is given up by a reset, and one that is read is not")
    func unread() {
        var streams = connection()
        var reading = StreamReading(limits: HTTPLimits())
        _ = streams.opened(1)
        let passed = begin(&reading, in: &streams, ends: true)
        #expect(reading.abandon().reset == nil, "it has no reply yet")
        _ = streams.passed(input(passed))
        #expect(reading.replied(bytes: 10, in: &streams).sends == true)
        #expect(reading.abandon().reset == .unread)
        _ = reading.delivered(in: &streams)
        #expect(reading.abandon().reset == nil)
    }

    @Test("a connection makes room unless it is being answered")
    func room() {
        var streams = connection()
        let leaves = streams.makeRoom()
        #expect(leaves.closes && leaves.goodbye == .noError)
        let input = HTTPInput(
            content: .fault(.malformed, nil), omitsBody: false, endsConnection: false, announcesKeepAlive: false)
        _ = streams.passed(input)
        let stays = streams.makeRoom()
        #expect(stays.stays && !stays.closes)
    }
}
