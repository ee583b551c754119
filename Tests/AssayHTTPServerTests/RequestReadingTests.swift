import AssayCore
import AssayHTTP
@testable import AssayHTTPServer
import AssayKit
import Testing

/// The decisions about a connection of HTTP/1.x, event by event.
@Suite("Decisions about requests of a connection")
struct RequestReadingTests {
    private let budget = TransportBudget()

    private func reading(_ change: (inout HTTPLimits) -> Void = { _ in }) -> RequestReading {
        var limits = HTTPLimits()
        change(&limits)
        var reading = RequestReading(limits: limits, room: PeerBudget(budget)) { $0.target == "/ask" }
        #expect(reading.begin().wait == .firstByte)
        return reading
    }

    private func start(
        _ method: String = "POST", _ target: String = "/", _ headers: HeaderFields = [("host", "a")],
        isHTTP10: Bool = false, isKeepAlive: Bool = true
    ) -> RequestStart {
        RequestStart(
            request: GatewayRequest(method: method, target: target, headers: headers), isHTTP10: isHTTP10,
            isKeepAlive: isKeepAlive)
    }

    private func fault(_ actions: RequestReading.Actions) -> HTTPFault? {
        guard case .fault(let fault, _)? = actions.input?.content else { return nil }
        return fault
    }

    @Test("each part of a request is waited for in its turn, and the time of a part is not begun anew by bytes")
    func waits() {
        var reading = reading()
        _ = reading.received(bytes: 10)
        #expect(reading.next().wait == .head)
        _ = reading.received(bytes: 10)
        #expect(reading.next().wait == nil)
        _ = reading.received(start("POST", "/", [("host", "a"), ("content-length", "2")]))
        #expect(reading.next().wait == .body)
        _ = reading.received(body: [1])
        #expect(reading.next().wait == nil)
        _ = reading.received(body: [2])
        do {
            let passed = reading.receivedEnd()
            #expect(passed.wait == .answer)
            guard case .request(let request)? = passed.input?.content else {
                Issue.record("it is not passed on")
                return
            }
            #expect(request.body == [1, 2])
        }
        #expect(reading.replied(endsConnection: false) == false)
        #expect(reading.next().wait == .delivery)
        #expect(reading.delivered(isLast: false).wait == .nextByte)
        #expect(budget.bytes == 0 && budget.streams == 0)
    }

    @Test("no more is read while a request waits for its reply, and then what was held back is")
    func backPressure() {
        var reading = reading()
        #expect(reading.wantsRead() == true)
        _ = reading.received(bytes: 10)
        _ = reading.received(start("GET"))
        _ = reading.receivedEnd()
        #expect(reading.wantsRead() == false)
        #expect(reading.replied(endsConnection: false) == false)
        #expect(reading.next().reads == false)
        #expect(reading.delivered(isLast: false).reads == true)
    }

    @Test("what is wrong is the last that is read, and the connection is left open for the client to read the reply")
    func fault() {
        var reading = reading()
        _ = reading.received(bytes: 10)
        let refused = reading.failed(.malformed)
        #expect(fault(refused) == .malformed)
        #expect(refused.shutsInput)
        #expect(refused.input?.endsConnection == true)
        #expect(reading.received(start()).input == nil)
        #expect(reading.failed(.malformed).input == nil)
        #expect(reading.replied(endsConnection: true) == true)
        let left = reading.delivered(isLast: true)
        #expect(left.closesOutput)
        #expect(!left.closes)
        #expect(left.wait == .leave)
        #expect(reading.expire().closes == true)
    }

    @Test("a client that has closed its side is not waited for after the last reply")
    func closedInput() {
        var reading = reading()
        _ = reading.received(bytes: 10)
        _ = reading.received(start("GET"))
        _ = reading.receivedEnd()
        #expect(reading.inputClosed().closes == false)
        #expect(reading.replied(endsConnection: false) == false)
        #expect(reading.delivered(isLast: false).closes == true)
    }

    @Test(
        "heads that a server could take otherwise than a proxy before it are refused",
        arguments: [
            ([], false, 400), ([("host", "a"), ("host", "a")], false, 400),
            ([("host", "a"), ("transfer-encoding", "gzip, chunked")], false, 501),
            ([("host", "a"), ("transfer-encoding", "chunked")], true, 400),
            ([("host", "a"), ("content-length", "65537")], false, 413),
            ([("host", "a"), ("content-length", "99999999999999999999")], false, 413),
        ] as [(HeaderFields, Bool, Int)])
    func heads(_ headers: HeaderFields, _ isHTTP10: Bool, _ status: Int) {
        var reading = reading()
        _ = reading.received(bytes: 10)
        #expect(fault(reading.received(start("POST", "/", headers, isHTTP10: isHTTP10)))?.status.code == status)
    }

    @Test("a body is bounded in what comes, whatever was announced")
    func longBody() {
        var reading = reading { $0.bodyBytes = 4 }
        _ = reading.received(bytes: 10)
        _ = reading.received(start("POST", "/", [("host", "a"), ("transfer-encoding", "chunked")]))
        #expect(reading.received(body: [1, 2, 3, 4]).input == nil)
        #expect(fault(reading.received(body: [5])) == .bodyTooLarge(limit: 4))
    }

    @Test("a body in thousands of tiny pieces is refused; one in as many larger pieces is not", arguments: [1, 15, 40])
    func fragments(_ size: Int) {
        var reading = reading { $0.bodyBytes = 100_000 }
        _ = reading.received(bytes: 10)
        _ = reading.received(start("POST", "/", [("host", "a"), ("transfer-encoding", "chunked")]))
        let piece = Array(repeating: UInt8(1), count: size)
        var found: HTTPFault?
        for _ in 0..<2_400 where found == nil { found = fault(reading.received(body: piece)) }
        #expect(found == (size == 1 ? .bodyTooFragmented : nil))
    }

    @Test("a body that nobody reads is not waited for, and ends the connection")
    func ignoredBody() {
        var reading = reading()
        _ = reading.received(bytes: 10)
        let passed = reading.received(start("GET", "/ask", [("host", "a"), ("content-length", "99999999")]))
        #expect(passed.input?.endsConnection == true)
        #expect(passed.shutsInput)
    }

    @Test("a 100 (Continue) is sent when the replies before it are out, and not to clients of HTTP/1.0")
    func expectation() {
        let headers: HeaderFields = [("host", "a"), ("content-length", "1"), ("expect", "100-Continue")]
        var first = reading()
        _ = first.received(bytes: 10)
        _ = first.received(start("GET"))
        _ = first.receivedEnd()
        _ = first.received(bytes: 10)
        _ = first.received(start("POST", "/", headers))
        #expect(first.next().sendsContinue == false)
        #expect(first.replied(endsConnection: false) == false)
        #expect(first.delivered(isLast: false).sendsContinue == true)
        #expect(first.next().sendsContinue == false)
        var old = reading()
        _ = old.received(bytes: 10)
        _ = old.received(start("POST", "/", headers, isHTTP10: true))
        #expect(old.next().sendsContinue == false)
    }

    @Test("a server that shuts down closes what is idle, and ends the others with their last reply")
    func quiescing() {
        var idle = reading()
        #expect(idle.quiesce().closes == true)
        var busy = reading()
        _ = busy.received(bytes: 10)
        _ = busy.received(start("GET"))
        _ = busy.receivedEnd()
        #expect(busy.quiesce().closes == false)
        #expect(busy.replied(endsConnection: false) == true)
    }

    @Test("a connection makes room unless it is being answered")
    func room() {
        var reading = reading()
        #expect(reading.makeRoom().closes == true)
        _ = reading.received(bytes: 10)
        _ = reading.received(start("GET"))
        _ = reading.receivedEnd()
        let stays = reading.makeRoom()
        #expect(stays.stays && !stays.closes)
    }

    @Test("when the budget is full, a request is refused, and what it held is given back with the connection")
    func overloaded() {
        let budget = TransportBudget(bytes: 12_000, streams: 1)
        var reading = RequestReading(limits: HTTPLimits(), room: PeerBudget(budget))
        _ = reading.begin()
        #expect(fault(reading.received(bytes: 20_000)) == .overloaded)
        reading.end()
        #expect(budget.bytes == 0 && budget.streams == 0)
    }
}
