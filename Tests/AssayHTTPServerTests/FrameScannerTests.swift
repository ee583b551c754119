import AssayCore
import AssayHTTP
@testable import AssayHTTPServer
import AssayKit
import AssayTestSupport
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import Testing

private typealias Frame = StreamClient.Frame

private let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

private func settings(_ all: [(UInt16, UInt32)], flags: UInt8 = 0) -> [UInt8] {
    StreamClient.frame(
        Frame.settings, flags: flags, payload: all.flatMap { StreamClient.bytes($0.0) + StreamClient.bytes($0.1) })
}

@Suite("What stands ahead of the parser of HTTP/2")
struct FrameScannerTests {
    /// What the parser gets of bytes that come in pieces of a size.
    private func passed(_ bytes: [UInt8], pieces: Int) -> [UInt8] {
        var scanner = FrameScanner()
        var passed: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            var buffer = ByteBuffer(bytes: bytes[start..<min(start + pieces, bytes.count)])
            scanner.pass(&buffer)
            passed += buffer.readableBytesView
        }
        return passed
    }

    @Test(
        "A client's table of header fields is at most 4096 bytes, whatever it announces and however the bytes come",
        arguments: [
            (0, 0), (1, 1), (4095, 4095), (4096, 4096), (4097, 4096), (0x10FF, 4096), (0x1100, 4096), (0x2000, 4096),
            (65_535, 4096), (65_536, 4096), (0x0001_0001, 4096), (0x0100_0000, 4096), (0x0100_0FFF, 4096),
            (4_294_967_295, 4096),
        ] as [(UInt32, UInt32)])
    func clamp(_ announced: UInt32, _ seen: UInt32) {
        let frames = { (size: UInt32) -> [UInt8] in
            preface + settings([(3, 0xFFFF_FFFF), (1, size), (4, 0xFFFF_FFFF)])
                + StreamClient.head(1, StreamClient.fields("POST", "/x"), ends: false)
                // What looks like the setting and is none.
                + StreamClient.frame(Frame.data, flags: 1, stream: 1, payload: [0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
                + settings([], flags: Frame.ack) + settings([(1, 7), (0x101, 0xFFFF_FFFF), (1, size)])
                + StreamClient.frame(Frame.ping, payload: [0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1])
                + settings([(1, size)])
        }
        for pieces in [1, 2, 3, 5, 7, 11, 64, 10_000] {
            #expect(passed(frames(announced), pieces: pieces) == frames(seen), "in pieces of \(pieces)")
        }
    }

    @Test("Resets are hidden as frames that no parser knows, with their streams, however the bytes come")
    func resets() {
        let reset = { (stream: Int) in StreamClient.frame(Frame.reset, stream: stream, payload: [0, 0, 0, 8]) }
        let hidden = { (stream: Int) in StreamClient.frame(0xF0, stream: stream, payload: [0, 0, 0, 8]) }
        let frames = { (reset: (Int) -> [UInt8]) -> [UInt8] in
            preface + settings([]) + StreamClient.head(1, StreamClient.fields("POST", "/x"), ends: false) + reset(1)
                + StreamClient.frame(Frame.data, stream: 3, payload: [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8])
                + reset(0x7FFF_FFFF)
                // The parser refuses it because of its length.
                + StreamClient.frame(Frame.reset, stream: 5, payload: [0]) + reset(7)
        }
        for pieces in [1, 2, 3, 5, 7, 11, 64, 10_000] {
            var scanner = FrameScanner(hidesResets: true)
            var (passed, streams): ([UInt8], [Int]) = ([], [])
            let bytes = frames(reset)
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                var buffer = ByteBuffer(bytes: bytes[start..<min(start + pieces, bytes.count)])
                scanner.pass(&buffer)
                for cut in scanner.cuts {
                    guard let stream = cut.reset else { continue }
                    streams.append(stream)
                    let end = passed.count + cut.index
                    #expect(bytes[..<end].suffix(4) == [0, 0, 0, 8])
                }
                scanner.cuts = []
                passed += buffer.readableBytesView
            }
            #expect(passed == frames(hidden), "in pieces of \(pieces)")
            #expect(streams == [1, 0x7FFF_FFFF, 7])
        }
        #expect(self.passed(frames(reset), pieces: 5) == frames(reset), "on other listeners the parser counts them")
    }

    @Test("Where resets are hidden, bytes can be divided behind every few frames, however they come")
    func cuts() {
        let call = StreamClient.frame(Frame.headers, flags: 4, stream: 1, payload: [1, 2, 3])
        let empty = StreamClient.frame(Frame.data, flags: 1, stream: 1)
        let reset = StreamClient.frame(Frame.reset, stream: 3, payload: [0, 0, 0, 8])
        // Four frames with the settings, a reset behind two more, and five others.
        let parts = [
            settings([(3, 100)]) + call + empty + call, empty + call + reset, call + call + empty + call, call,
        ]
        let ends = parts.reduce(into: [preface.count]) { $0.append(($0.last ?? 0) + $1.count) }
        let bytes = preface + parts.joined()
        for size in [1, 2, 7, 10_000] {
            var scanner = FrameScanner(hidesResets: true)
            var (found, streams): ([Int], [Int?]) = ([], [])
            for start in stride(from: 0, to: bytes.count, by: size) {
                var buffer = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
                scanner.pass(&buffer)
                found += scanner.cuts.map { start + $0.index }
                streams += scanner.cuts.map(\.reset)
                scanner.cuts = []
            }
            #expect(found == Array(ends[1...3]), "in pieces of \(size)")
            #expect(streams == [nil, 3, nil])
        }
    }

    @Test("It knows what the parser keeps: what is not complete, but for DATA, which is passed on")
    func unfinished() {
        var scanner = FrameScanner()
        func pass(_ bytes: [UInt8]) -> Int {
            var buffer = ByteBuffer(bytes: bytes)
            scanner.pass(&buffer)
            return scanner.unfinished
        }
        #expect(pass(preface + settings([(3, 100)])) == 0)
        let head = StreamClient.frame(Frame.headers, stream: 1, payload: Array(repeating: 1, count: 500))
        #expect(pass(Array(head.prefix(4))) == 4)
        #expect(pass(Array(head[4..<200])) == 200)
        #expect(pass(Array(head[200...])) == 509, "the block continues")
        let more = StreamClient.frame(Frame.continuation, stream: 1, payload: [1])
        #expect(pass(more) == 519)
        #expect(pass(StreamClient.frame(Frame.continuation, flags: 4, stream: 1)) == 0)
        let data = StreamClient.frame(Frame.data, stream: 1, payload: Array(repeating: 1, count: 1000))
        #expect(pass(Array(data.prefix(5))) == 5)
        #expect(pass(Array(data[5..<700])) == 0)
        #expect(pass(Array(data[700...])) == 0)
        let unknown = StreamClient.frame(99, payload: Array(repeating: 1, count: 1000))
        #expect(pass(Array(unknown.prefix(900))) == 900)
        #expect(pass(Array(unknown[900...])) == 0)
    }

    @Test("A connection is closed when what the parser keeps does not fit")
    func gate() throws {
        let channel = EmbeddedChannel()
        var held = 0
        try channel.pipeline.syncOperations.addHandler(
            FrameGate { change in
                guard held + change <= 100 else { return false }
                held += change
                return true
            })
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let head = StreamClient.frame(Frame.headers, flags: 4, stream: 1, payload: Array(repeating: 1, count: 50))
        try channel.writeInbound(ByteBuffer(bytes: preface))
        for _ in 0..<10 {
            try channel.writeInbound(ByteBuffer(bytes: head.prefix(30)))
            #expect(held == 30)
            try channel.writeInbound(ByteBuffer(bytes: head.dropFirst(30)))
        }
        #expect(held == 0)
        #expect(channel.isActive)
        try channel.writeInbound(
            ByteBuffer(bytes: StreamClient.frame(Frame.headers, stream: 1, payload: Array(repeating: 1, count: 92))))
        #expect(!channel.isActive)
    }

    @Test("While what was read waits, a connection is closed when NIO reads on, as it does when the client has left")
    func unasked() throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(FrameGate(onReset: { _ in }, mayPass: { false }))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(bytes: preface))
        let data = StreamClient.frame(Frame.data, stream: 1, payload: Array(repeating: 1, count: 16_000))
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(bytes: data))
        #expect(!channel.isActive)
        #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
    }

    @Test("Thousands of frames with hardly any content end a connection; as many with content do not")
    func calm() throws {
        let ping = StreamClient.frame(6, payload: Array(repeating: 1, count: 8))
        let data = StreamClient.frame(Frame.data, stream: 1, payload: Array(repeating: 1, count: 60))
        for (frame, isTooMuch) in [(ping, true), (data, false)] {
            let channel = EmbeddedChannel()
            try channel.pipeline.syncOperations.addHandler(FrameGate())
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try channel.writeInbound(ByteBuffer(bytes: preface))
            var count = 0
            while channel.isActive, count < 40_000 {
                try channel.writeInbound(ByteBuffer(bytes: frame))
                count += 1
                // What was let through is copied with each one that follows, and so takes ever longer.
                while try channel.readInbound(as: ByteBuffer.self) != nil {}
            }
            #expect(channel.isActive == !isTooMuch)
            #expect(!isTooMuch || count > 10_000)
            let farewell = try channel.readOutbound(as: ByteBuffer.self)
            #expect((farewell.map { Array($0.readableBytesView.suffix(4)) } == [0, 0, 0, 11]) == isTooMuch)
            _ = try? channel.finish(acceptAlreadyClosed: true)
        }
    }

    @Test("The allowance for frames with hardly any content comes back with time")
    func allowance() {
        var allowance = FrameAllowance()
        let start = NIODeadline.now()
        let answers = [(16_384, 0, 0), (1, 63, 0), (1, 64, 0), (1_900, 0, 1), (200, 0, 1)].map {
            frames, bytes, second in
            allowance.takes(frames, bytes: bytes, at: start + .seconds(second))
        }
        #expect(answers == [true, false, true, true, false])
    }

    @Test(
        "However many replies there are, and whatever table is allowed, the encoder keeps few fields, always the same")
    func replies() throws {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        try encoder.setDynamicTableSize(1 << 30)
        var sizes: Set<Int> = []
        for number in 0..<3000 {
            var buffer = ByteBuffer()
            var fields: HeaderFields = [
                ("content-type", "application/json; charset=UTF-8"), ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"),
            ]
            fields += [
                (name: "x-assay-decision", value: "01K\(number)"), ("date", "\(number)"), ("etag", "\"\(number)\""),
                ("dpop-nonce", "n\(number)"),
                ("access-control-allow-origin", number % 2 == 0 ? "*" : "https://\(number)"),
                ("retry-after", "\(number)"), ("x-appcheck-app-id", "a\(number)"),
            ]
            try encoder.encode(headers: HPACKHeaders(status: [200, 403, 401][number % 3], fields), to: &buffer)
            sizes.insert(encoder.dynamicTableSize)
        }
        #expect(sizes.count <= 2)
        #expect(encoder.dynamicTableSize < 512)
    }
}
