import AssayCore
import Testing

@testable import AssayProcesses

@Suite("Calls of a process over HTTP/2, without I/O")
struct ClientStreamsTests {
    private static let good = block([(":status", "200"), ("content-type", "application/grpc")])
    private static let fine = block([("grpc-status", "0")])
    private static let settings = frame(.settings, stream: 0, [])

    private static func block(_ fields: [(String, String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes.append(0)
            for text in [name, value] {
                bytes.append(UInt8(text.utf8.count))
                bytes.append(contentsOf: text.utf8)
            }
        }
        return bytes
    }

    private static func frame(_ kind: Frame.Kind, _ flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        Frame.write(kind, flags, stream: stream, payload, to: &bytes)
        return bytes
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        Frame.append(value, to: &bytes)
        return bytes
    }

    private static func setting(_ key: UInt8, _ value: UInt32) -> [UInt8] {
        frame(.settings, stream: 0, [0, key] + number(value))
    }

    /// A whole answer.
    private static func answer(_ stream: UInt32, _ message: [UInt8]) -> [UInt8] {
        frame(.headers, Frame.Flags.endHeaders, stream: stream, good) + frame(.data, stream: stream, message)
            + frame(.headers, Frame.Flags.endHeaders | Frame.Flags.endStream, stream: stream, fine)
    }

    private func streams() -> ClientStreams { ClientStreams(replyLimit: 1000) }

    private func start(_ streams: inout ClientStreams, _ call: UInt64, _ count: Int = 3) -> ClientStreams.Actions {
        streams.start(
            call, head: ClientStreams.head(path: "/a.B/C", timeLimit: .seconds(1)),
            message: [UInt8](repeating: 7, count: count))
    }

    /// The kinds and streams of the frames in what is sent.
    private func kinds(_ bytes: [UInt8]) throws -> [String] {
        var reader = Frame.Reader()
        reader.append(bytes)
        var found: [String] = []
        while let frame = try reader.next() {
            let kind = try #require(Frame.Kind(rawValue: frame.type))
            found.append("\(kind) \(frame.stream) \(frame.payload.count)")
        }
        return found
    }

    @Test("A call is sent at once, and ends with its answer, however the bytes are cut", arguments: [1, 2, 7, 10_000])
    func call(piece: Int) throws {
        var streams = streams()
        let sent = start(&streams, 1)
        #expect(try kinds(sent.output).map { $0.prefix(9) } == ["headers 1", "data 1 3"])
        let bytes = Self.settings + Self.answer(1, [1, 2, 3])
        var ended: [ClientStreams.Outcome] = []
        var output: [UInt8] = []
        for index in stride(from: 0, to: bytes.count, by: piece) {
            let actions = streams.received(bytes[index..<min(index + piece, bytes.count)])
            ended += actions.ended
            output += actions.output
            #expect(actions.closes.isNil)
        }
        #expect(try kinds(output) == ["settings 0 0"])
        #expect(ended.map(\.id) == [1])
        #expect(try ended.first?.result.get() == [1, 2, 3])
        #expect(streams.isIdle)
    }

    @Test("No more is sent than the windows allow, and the rest when they grow")
    func windows() throws {
        var streams = streams()
        _ = streams.received(Self.setting(4, 10))
        #expect(try kinds(start(&streams, 1, 25).output).last == "data 1 10")
        let more = streams.received(Self.frame(.windowUpdate, stream: 1, Self.number(10)))
        #expect(try kinds(more.output) == ["data 1 10"])
        #expect(try kinds(streams.received(Self.setting(4, 100)).output) == ["settings 0 0", "data 1 5"])
        // The window of the connection.
        var others = self.streams()
        _ = others.received(Self.setting(4, 1 << 20))
        #expect(try kinds(start(&others, 1, 70_000).output).dropFirst().map { $0 }.count == 4)
        let rest = others.received(Self.frame(.windowUpdate, stream: 0, Self.number(1 << 20)))
        #expect(try kinds(rest.output) == ["data 1 4465"])
    }

    @Test("Calls beyond what the process serves at a time wait for their turn")
    func turns() throws {
        var streams = streams()
        _ = streams.received(Self.setting(3, 1))
        #expect(try kinds(start(&streams, 1).output).count == 2)
        #expect(start(&streams, 2).output.isEmpty)
        #expect(start(&streams, 3).output.isEmpty)
        #expect(streams.cancel(2).ended.map(\.id) == [2])
        let actions = streams.received(Self.answer(1, []))
        #expect(actions.ended.map(\.id) == [1])
        #expect(try kinds(actions.output).map { $0.prefix(9) } == ["headers 3", "data 3 3"])
    }

    @Test("A call that is cancelled is reset, and what still comes for it is passed over")
    func cancel() throws {
        var streams = streams()
        _ = start(&streams, 1)
        let cancelled = streams.cancel(1)
        #expect(try kinds(cancelled.output) == ["reset 1 4"])
        #expect(cancelled.ended.count == 1)
        let late = streams.received(Self.answer(1, [1]))
        #expect(late.ended.isEmpty)
        #expect(late.closes.isNil)
        #expect(streams.cancel(1).ended.isEmpty)
    }

    @Test("A failure has the status and the words of the process")
    func failures() throws {
        for (fields, code, words) in [
            (
                [
                    (":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "14"),
                    ("grpc-message", "not%20now"),
                ],
                GRPCFailure.Code.unavailable, "not now"
            ),
            ([(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "99")], .unknown, ""),
            ([(":status", "500"), ("content-type", "application/grpc")], .internalError, "not answer as gRPC"),
            ([(":status", "200"), ("content-type", "text/html")], .internalError, "not answer as gRPC"),
            ([(":status", "200"), ("content-type", "application/grpc")], .internalError, "without a status"),
        ] as [([(String, String)], GRPCFailure.Code, String)] {
            var streams = streams()
            _ = start(&streams, 1)
            let flags = Frame.Flags.endHeaders | Frame.Flags.endStream
            let actions = streams.received(Self.frame(.headers, flags, stream: 1, Self.block(fields)))
            guard case .failure(let failure)? = actions.ended.first?.result else {
                Issue.record("\(fields) is no failure")
                continue
            }
            #expect(failure.code == code)
            #expect(failure.message.contains(words))
            #expect(actions.closes.isNil)
        }
    }

    @Test("A reply beyond the limit ends its call alone")
    func large() throws {
        var streams = streams()
        _ = start(&streams, 1)
        _ = start(&streams, 2)
        let head = Self.frame(.headers, Frame.Flags.endHeaders, stream: 1, Self.good)
        let actions = streams.received(head + Self.frame(.data, stream: 1, [UInt8](repeating: 1, count: 1006)))
        #expect(actions.ended.map(\.id) == [1])
        #expect(try kinds(actions.output) == ["reset 1 4"])
        #expect(streams.received(Self.answer(3, [1])).ended.map(\.id) == [2])
    }

    @Test("A process that takes no more calls answers those that it has")
    func farewell() throws {
        var streams = streams()
        _ = start(&streams, 1)
        _ = start(&streams, 2)
        let farewell = streams.received(Self.frame(.goAway, stream: 0, Self.number(1) + Self.number(0)))
        #expect(farewell.ended.map(\.id) == [2])
        #expect(farewell.closes.isNil)
        #expect(start(&streams, 3).ended.map(\.id) == [3])
        let last = streams.received(Self.answer(1, [1]))
        #expect(last.ended.map(\.id) == [1])
        #expect(last.closes != nil)
    }

    private static let broken: [(String, [UInt8])] = [
        ("too large", [0x01, 0, 1, 0, 0, 0, 0, 0, 1]),
        ("a push", frame(.pushPromise, Frame.Flags.endHeaders, stream: 1, number(2))),
        ("not opened", frame(.headers, Frame.Flags.endHeaders, stream: 2, good)),
        ("not opened", frame(.headers, Frame.Flags.endHeaders, stream: 99, good)),
        ("not opened", frame(.data, stream: 99, [1])), ("not opened", frame(.data, stream: 0, [1])),
        ("not opened", frame(.data, Frame.Flags.padded, stream: 1, [9, 1])),
        ("not opened", frame(.headers, Frame.Flags.endHeaders | Frame.Flags.priority, stream: 1, [1, 2])),
        ("a continuation of nothing", frame(.continuation, stream: 1, [1])),
        ("interrupted", frame(.headers, stream: 1, good) + settings),
        (
            "too large",
            frame(.headers, stream: 1, good)
                + (0..<5).flatMap { _ in
                    frame(.continuation, stream: 1, [UInt8](repeating: 0, count: 16_384))
                }
        ),
        ("cannot be read", frame(.headers, Frame.Flags.endHeaders, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF])),
        ("settings", frame(.settings, stream: 0, [1])), ("settings", frame(.settings, stream: 1, [])),
        ("a ping", frame(.ping, stream: 0, [1])), ("a reset", frame(.reset, stream: 1, [1])),
        ("a farewell", frame(.goAway, stream: 0, [1])),
        ("raised by nothing", frame(.windowUpdate, stream: 0, number(0))),
        ("window that is too large", frame(.windowUpdate, stream: 0, number(0x7FFF_FFFF))),
        ("window that is too large", frame(.windowUpdate, stream: 1, number(0x7FFF_FFFF))),
        ("window that is too large", setting(4, 0x8000_0000)),
        ("say nothing", (0..<10_001).flatMap { _ in frame(.ping, stream: 0, [UInt8](repeating: 0, count: 8)) }),
        ("say nothing", (0..<10_003).flatMap { _ in frame(.data, stream: 1, []) }),
    ]

    @Test("What breaks the protocol closes the connection, and every call ends once", arguments: broken)
    func hostile(words: String, bytes: [UInt8]) {
        var streams = streams()
        _ = start(&streams, 1)
        let actions = streams.received(bytes)
        #expect(actions.closes?.contains(words) == true, "\(actions.closes ?? "open")")
        #expect(actions.ended.map(\.id) == [1])
        #expect(streams.received(Self.answer(1, [1])).ended.isEmpty)
        #expect(start(&streams, 2).ended.map(\.id) == [2])
    }

    @Test("Whatever a process sends, every call ends at most once, and nothing grows without bound")
    func noise() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var streams = streams()
            var open: Set<UInt64> = []
            var ended: [UInt64] = []
            for call in 1...8 as ClosedRange<UInt64> {
                open.insert(call)
                ended += start(&streams, call, Int.random(in: 0...40_000, using: &random)).ended.map(\.id)
            }
            var output = 0
            for _ in 0..<50 {
                let kind = Frame.Kind(rawValue: UInt8.random(in: 0...9, using: &random)) ?? .data
                let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                var bytes = Self.frame(
                    kind, UInt8.random(in: 0...255, using: &random), stream: UInt32.random(in: 0...17, using: &random),
                    payload)
                if Int.random(in: 0..<4, using: &random) == 0, let index = bytes.indices.randomElement(using: &random) {
                    bytes[index] = UInt8.random(in: 0...255, using: &random)
                }
                let actions = streams.received(bytes)
                ended += actions.ended.map(\.id)
                output += actions.output.count
            }
            ended += streams.close("the end").ended.map(\.id)
            #expect(ended.sorted() == open.sorted())
            #expect(output < 1 << 20)
        }
    }

    @Test("Our headers are read as they are meant")
    func headers() {
        let head = ClientStreams.head(path: "/assay.plugin.v1.Plugin/Appraise", timeLimit: .milliseconds(1500))
        let text = String(decoding: head, as: UTF8.self)
        #expect(head.prefix(2) == [0x83, 0x86])
        for part in ["/assay.plugin.v1.Plugin/Appraise", "localhost", "application/grpc", "te", "trailers", "1500m"] {
            #expect(text.contains(part))
        }
    }
}
