import AssayCore
import AssayHTTPServer
import AssayKit
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Testing

@testable import AssayExtAuthz

/// Header fields that Swift would compare slowly, or that no client of gRPC sends.
private let strange: [(String, String)] = [
    ("te", "tr\u{E9}ilers"), (":path", "/" + String(repeating: "a\u{315}\u{300}", count: 100)), ("user-agent", "a\tb"),
    ("e\u{301}", "v"),
]

@Suite("The guard of a stream")
struct CallGuardTests {
    private let stream: GuardedStream

    init() throws {
        stream = try GuardedStream()
    }

    @Test("a call continues when it is whole, in one head and one message")
    func whole() throws {
        try stream.head()
        try stream.data([0, 0, 0])
        #expect(try stream.passed().isEmpty)
        try stream.data([0, 2, 7, 8], ends: true)
        let passed = try stream.passed()
        #expect(passed.count == 2)
        #expect(passed.first?.isHead == true)
        #expect(passed.last?.bytes == [0, 0, 0, 0, 2, 7, 8])
        #expect(stream.budget.bytes > 0)
        #expect(stream.connection.waiting == nil)
        stream.answer()
        #expect(stream.budget.bytes == 0)
        #expect(stream.connection.waiting != nil)
    }

    @Test("a call that is not brought to an end is answered and reset, and nothing of it is held")
    func halfOpen() throws {
        try stream.head()
        try stream.data([0, 0, 3, 0xE8, 0] + [UInt8](repeating: 0, count: 10_000))
        #expect(stream.budget.bytes > 10_000)
        #expect(stream.budget.streams == 1)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(try stream.written().isEmpty)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        let written = try stream.written()
        #expect(written.count == 2)
        #expect(written.first?.status == "4")
        #expect(written.last?.reset == .noError)
        #expect(!stream.channel.isActive)
        #expect(stream.budget.bytes == 0)
        #expect(stream.budget.streams == 0)
        #expect(try stream.passed().isEmpty)
        #expect(stream.refusals == [.late])
    }

    @Test("a call that finds no room is reset as one that was not begun", arguments: [CallRefusal.noBytes, .noStreams])
    func noRoom(refusal: CallRefusal) throws {
        let stream = try GuardedStream(
            budget: TransportBudget(bytes: 1000, streams: refusal == .noStreams ? 0 : 1), connectionBytes: 1000)
        try stream.head()
        if refusal == .noBytes { try stream.data([UInt8](repeating: 0, count: 1000)) }
        #expect(try stream.written().map(\.reset) == [.refusedStream])
        #expect(stream.refusals == [refusal])
        #expect(stream.budget.bytes == 0)
        #expect(stream.budget.streams == 0)
    }

    @Test("the calls of a connection hold no more than one may, whatever the process has left")
    func connection() throws {
        let stream = try GuardedStream(connectionBytes: 1000)
        try stream.head()
        try stream.data([UInt8](repeating: 0, count: 1000))
        #expect(try stream.written().map(\.reset) == [.refusedStream])
    }

    @Test("header fields of other characters than visible ASCII reach nothing that compares them", arguments: strange)
    func plain(name: String, value: String) throws {
        try stream.head([(name, value)])
        #expect(try stream.written().first?.status == "3")
        #expect(try stream.passed().isEmpty)
        #expect(stream.refusals == [.malformedHead])
    }

    @Test(
        "a timeout that gRPC does not define reaches no library",
        arguments: [
            "-1S", "", "S", "1", "1s", "+1S", "123456789S", " 1S", "1S ", "1 S", "1.5S", "1e3S", "0x1S", "-0n",
            "99999999999999999999H", "1SS",
        ])
    func timeouts(value: String) throws {
        for name in ["grpc-timeout", "GRPC-Timeout"] {
            let stream = try GuardedStream()
            try stream.head([(name, value)])
            #expect(try stream.written().first?.status == "3")
            #expect(try stream.passed().isEmpty)
            #expect(stream.refusals == [.malformedTimeout])
        }
    }

    @Test("a timeout that gRPC defines continues, and a second one does not")
    func validTimeouts() throws {
        for value in ["0S", "1H", "99999999H", "00000001n", "10M", "5m", "7u"] {
            let stream = try GuardedStream()
            try stream.head([("grpc-timeout", value)])
            try stream.data([0, 0, 0, 0, 0], ends: true)
            #expect(try stream.passed().count == 2)
        }
        try stream.head([("grpc-timeout", "1S"), ("grpc-timeout", "1S")])
        #expect(stream.refusals == [.malformedTimeout])
    }

    @Test("an answer that is not taken is not waited for")
    func untaken() throws {
        try stream.head()
        try stream.data([0, 0, 0, 0, 0], ends: true)
        stream.answer()
        // The stream is open until its last frame could be sent.
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(stream.channel.isActive)
        stream.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!stream.channel.isActive)
    }

    @Test("a call that its client resets is ended, and counts for its connection as long as the service works on it")
    func reset() throws {
        try stream.head([("assay-call", "7")])
        try stream.data([0, 0, 0, 0, 2, 7, 8], ends: true)
        let head = try #require(try stream.passed().first?.fields)
        let numbers = head["assay-call"]
        #expect(numbers.count == 1, "a client chooses no number")
        let reservation = try #require(stream.forwarded.take(numbers[0]))
        stream.reset()
        let written = try stream.written()
        #expect(written.map(\.status) == ["1"], "no reset is answered by a reset")
        let passed = try stream.passed()
        #expect(passed.map(\.reset) == [.cancel], "the service is told")
        #expect(!stream.channel.isActive)
        #expect(stream.connection.waiting != nil)
        #expect(stream.budget.streams == 1 && stream.budget.bytes > 0)
        withExtendedLifetime(reservation) {}
    }

    @Test("a call that is reset before the service has it leaves nothing behind", arguments: [true, false])
    func resetEarly(isWhole: Bool) throws {
        try stream.head()
        try stream.data([0, 0, 0, 0, 0], ends: isWhole)
        stream.reset()
        stream.reset()
        #expect(try stream.written().map(\.reset) == (isWhole ? [nil] : [nil, .noError]))
        #expect(!stream.channel.isActive)
        #expect(stream.budget.bytes == 0 && stream.budget.streams == 0)
        #expect(stream.forwarded.count == 0)
        #expect(stream.refusals.isEmpty)
    }

    @Test("more calls of a connection than it may have, with those that were reset, are refused")
    func tooMany() throws {
        let room = ConnectionBudget(bytes: 100, calls: 2, budget: TransportBudget())
        var calls = [CallReservation(room), CallReservation(room)]
        #expect(!calls.contains { $0 == nil })
        #expect(CallReservation(room) == nil)
        #expect(calls[0]?.reserve(101) == false)
        #expect(calls[0]?.reserve(60) == true)
        #expect(calls[1]?.reserve(60) == false)
        calls[0] = nil
        #expect(calls[1]?.reserve(60) == true)
        #expect(CallReservation(room) != nil)
        let stream = try GuardedStream(calls: 0)
        try stream.head()
        #expect(try stream.written().map(\.reset) == [.refusedStream])
        #expect(stream.refusals == [.noStreams])
    }

    @Test("a call that its client resets, or whose connection breaks, leaves nothing behind", arguments: [true, false])
    func gone(isWhole: Bool) throws {
        try stream.head()
        try stream.data([0, 0, 0, 0, 0], ends: isWhole)
        #expect((stream.connection.waiting == nil) == isWhole)
        stream.channel.pipeline.fireChannelInactive()
        #expect(stream.budget.bytes == 0)
        #expect(stream.budget.streams == 0)
        #expect(stream.connection.waiting != nil)
    }
}

/// The guard of a stream, without the handlers behind it.
private final class GuardedStream {
    let budget: TransportBudget
    let connection: OpenConnection
    let channel: EmbeddedChannel
    let forwarded = ForwardedCalls()
    private let parent: ConnectionGuard
    private let counted = Counted()

    private final class Counted {
        var refusals: [CallRefusal] = []
    }

    var refusals: [CallRefusal] { counted.refusals }

    init(budget: TransportBudget = TransportBudget(), connectionBytes: Int = 1 << 20, calls: Int = 1000) throws {
        self.budget = budget
        channel = EmbeddedChannel()
        connection = OpenConnection(peer: .unknown, at: .uptimeNanoseconds(0)) {}
        let limits = ExtAuthzLimits()
        parent = ConnectionGuard(
            connection, limits, room: ConnectionBudget(bytes: connectionBytes, calls: calls, budget: budget),
            forwarded: forwarded, closed: ClosedStreams.Total(), sharing: LoopSharing(channel.eventLoop) { $0() },
            eventLoop: channel.eventLoop)
        let counted = counted
        try channel.pipeline.syncOperations.addHandler(
            CallGuard(parent, limits, stream: 1) { counted.refusals.append($0) }, position: .first)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func head(_ fields: [(String, String)] = []) throws {
        let all = [(":method", "POST"), (":path", "/a/b"), ("content-type", "application/grpc")] + fields
        try channel.writeInbound(HTTP2Frame.FramePayload.headers(.init(headers: HPACKHeaders(all))))
    }

    func data(_ bytes: [UInt8], ends: Bool = false) throws {
        try channel.writeInbound(
            HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: ends)))
    }

    /// The client resets the stream.
    func reset() {
        parent.reset(1)
    }

    /// The service says everything that it has to say.
    func answer() {
        channel.writeAndFlush(
            HTTP2Frame.FramePayload.headers(.init(headers: ["grpc-status": "0"], endStream: true)), promise: nil)
        _ = try? written()
    }

    /// What continued to the service.
    func passed() throws -> [HTTP2Frame.FramePayload] {
        var frames: [HTTP2Frame.FramePayload] = []
        while let frame = try channel.readInbound(as: HTTP2Frame.FramePayload.self) { frames.append(frame) }
        return frames
    }

    /// What went to the client.
    func written() throws -> [HTTP2Frame.FramePayload] {
        var frames: [HTTP2Frame.FramePayload] = []
        while let frame = try channel.readOutbound(as: HTTP2Frame.FramePayload.self) { frames.append(frame) }
        return frames
    }
}

extension HTTP2Frame.FramePayload {
    fileprivate var isHead: Bool {
        if case .headers(let fields) = self { !fields.endStream } else { false }
    }

    fileprivate var fields: HPACKHeaders? {
        if case .headers(let fields) = self { fields.headers } else { nil }
    }

    fileprivate var bytes: [UInt8]? {
        guard case .data(let data) = self, data.endStream, case .byteBuffer(let buffer) = data.data else { return nil }
        return Array(buffer: buffer)
    }

    fileprivate var status: String? {
        guard case .headers(let fields) = self, fields.endStream else { return nil }
        return fields.headers.first(name: "grpc-status")
    }

    fileprivate var reset: HTTP2ErrorCode? {
        if case .rstStream(let code) = self { code } else { nil }
    }
}
