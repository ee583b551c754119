import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import NIOCore
import NIOHPACK
import NIOSSL

/// A client of HTTP/2 that sends any frames, also such as no client should, and reads what comes back.
struct StreamClient {
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: Int
        let payload: [UInt8]

        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9

        static let endStream: UInt8 = 1
        static let ack: UInt8 = 1
        static let endHeaders: UInt8 = 4
    }

    /// What came of a stream.
    enum Outcome {
        case reply(RawReply)
        /// It was reset, with this code.
        case reset(UInt32)
    }

    private struct Partial {
        var head: HPACKHeaders?
        var body: [UInt8] = []
    }

    private var raw: RawConnection
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var streams: [Int: Partial] = [:]
    private var outcomes: [Int: Outcome] = [:]
    /// The codes of the GOAWAY frames that came.
    private(set) var goAways: [UInt32] = []
    /// The streams whose 100 (Continue) came.
    private(set) var continues: [Int] = []
    /// Whether a PING is acknowledged.
    var answersPings = true

    /// Connects over TLS and agrees on HTTP/2.
    ///
    /// - Parameter settings: what the client's first frame says: identifiers and values.
    static func with<Result: Sendable>(
        port: Int, from source: String = "127.0.0.1", identity: TestIdentity, settings: [(UInt16, UInt32)] = [],
        _ body: (inout StreamClient) async throws -> Result
    ) async throws -> Result {
        let tls = try identity.clientContext { $0.applicationProtocols = ["h2"] }
        return try await RawConnection.with(port: port, from: source, tls: tls) { raw in
            var client = StreamClient(raw: raw)
            try await client.raw.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            let payload = settings.flatMap { Self.bytes($0.0) + Self.bytes($0.1) }
            try await client.send(Frame.settings, payload: payload)
            return try await body(&client)
        }
    }

    private init(raw: RawConnection) {
        self.raw = raw
    }

    // MARK: - What is sent

    func send(_ type: UInt8, flags: UInt8 = 0, stream: Int = 0, payload: [UInt8] = []) async throws {
        try await send([Self.frame(type, flags: flags, stream: stream, payload: payload)])
    }

    /// Frames as they are, in one write.
    func send(_ frames: [[UInt8]]) async throws {
        try await raw.send(Array(frames.joined()))
    }

    /// A request of the given fields.
    func request(_ stream: Int, _ fields: [(String, String)], body: [UInt8]? = nil) async throws {
        var frames = [Self.head(stream, fields, ends: body == nil)]
        if let body {
            var rest = body[...]
            repeat {
                let piece = rest.prefix(16_384)
                rest = rest.dropFirst(piece.count)
                frames.append(
                    Self.frame(
                        Frame.data, flags: rest.isEmpty ? Frame.endStream : 0, stream: stream, payload: Array(piece)))
            } while !rest.isEmpty
        }
        try await send(frames)
    }

    func get(_ stream: Int, _ path: String, _ headers: [(String, String)] = []) async throws {
        try await request(stream, Self.fields("GET", path, headers))
    }

    func post(_ stream: Int, _ path: String, _ body: String, _ headers: [(String, String)] = []) async throws {
        try await request(stream, Self.fields("POST", path, headers), body: Array(body.utf8))
    }

    static func fields(_ method: String, _ path: String, _ headers: [(String, String)] = []) -> [(String, String)] {
        [(":method", method), (":scheme", "https"), (":path", path), (":authority", "a")] + headers
    }

    static func head(_ stream: Int, _ fields: [(String, String)], ends: Bool = true) -> [UInt8] {
        // In pieces that fit into a frame.
        var rest = block(fields)[...]
        var frames: [UInt8] = []
        repeat {
            let piece = rest.prefix(16_384)
            rest = rest.dropFirst(piece.count)
            frames += frame(
                frames.isEmpty ? Frame.headers : Frame.continuation,
                flags: (rest.isEmpty ? Frame.endHeaders : 0) | (frames.isEmpty && ends ? Frame.endStream : 0),
                stream: stream, payload: Array(piece))
        } while !rest.isEmpty
        return frames
    }

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int = 0, payload: [UInt8] = []) -> [UInt8] {
        Array(bytes(UInt32(payload.count)).dropFirst()) + [type, flags] + bytes(UInt32(stream)) + payload
    }

    /// Fields as literals without indexing (RFC 7541, section 6.2.2), so that any text may stand in them.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + literal($0.0) + literal($0.1) }
    }

    private static func literal(_ text: String) -> [UInt8] {
        var length = text.utf8.count
        guard length >= 127 else { return [UInt8(length)] + text.utf8 }
        var bytes: [UInt8] = [127]
        length -= 127
        while length >= 128 {
            bytes.append(UInt8(length % 128 + 128))
            length /= 128
        }
        return bytes + [UInt8(length)] + text.utf8
    }

    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    // MARK: - What comes

    /// Waits for the head of a reply, whose body may be held back, and gives its status.
    mutating func status(_ stream: Int) async throws -> String? {
        while true {
            if let head = streams[stream]?.head { return head.first(name: ":status") }
            guard outcomes[stream] == nil, try await receive() != nil else { throw RawConnection.Ended() }
        }
    }

    /// Waits for the reply on a stream, which must not be reset.
    mutating func reply(_ stream: Int) async throws -> RawReply {
        guard case .reply(let reply) = try await outcome(stream) else { throw RawConnection.Ended() }
        return reply
    }

    /// Waits for what comes of a stream.
    mutating func outcome(_ stream: Int) async throws -> Outcome {
        while true {
            if let outcome = outcomes.removeValue(forKey: stream) { return outcome }
            guard try await receive() != nil else { throw RawConnection.Ended() }
        }
    }

    /// Waits until a GOAWAY frame with this code came.
    mutating func waitForGoAway(_ code: UInt32 = 0) async throws {
        while !goAways.contains(code) {
            guard try await receive() != nil else { throw RawConnection.Ended() }
        }
    }

    /// Waits until the server acknowledges a PING: until then it has read all that was sent before.
    mutating func roundTrip() async throws {
        try await send(Frame.ping, payload: Array("roundtrp".utf8))
        while let frame = try await receive() {
            if frame.type == Frame.ping, frame.flags & Frame.ack != 0 { return }
        }
        throw RawConnection.Ended()
    }

    /// Reads until the server closes.
    mutating func waitForEnd() async throws {
        while try await receive() != nil {}
    }

    private mutating func receive() async throws -> Frame? {
        let head: [UInt8]
        do {
            head = try await raw.read { $0.count >= 9 ? 9 : nil }
        } catch is RawConnection.Ended {
            return nil
        } catch is IOError {
            return nil
        }
        let length = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
        let payload = length == 0 ? [] : try await raw.read { $0.count >= length ? length : nil }
        let frame = Frame(
            type: head[3], flags: head[4], stream: head[5...8].reduce(0) { $0 << 8 | Int($1) }, payload: payload)
        try await take(frame)
        return frame
    }

    private mutating func take(_ frame: Frame) async throws {
        let ends = frame.flags & Frame.endStream != 0
        switch frame.type {
        case Frame.settings where frame.flags & Frame.ack == 0:
            try await send(Frame.settings, flags: Frame.ack)
        case Frame.ping where frame.flags & Frame.ack == 0 && answersPings:
            try await send(Frame.ping, flags: Frame.ack, payload: frame.payload)
        case Frame.goAway:
            goAways.append(frame.payload[4...7].reduce(0) { $0 << 8 | UInt32($1) })
        case Frame.reset:
            // What comes behind a whole reply says that the rest of the request is not wanted.
            if outcomes[frame.stream] == nil {
                outcomes[frame.stream] = .reset(frame.payload.reduce(0) { $0 << 8 | UInt32($1) })
            }
        case Frame.headers:
            var buffer = ByteBuffer(bytes: frame.payload)
            let fields = try decoder.decodeHeaders(from: &buffer)
            if fields.first(name: ":status") == "100" {
                continues.append(frame.stream)
            } else {
                streams[frame.stream, default: Partial()].head = fields
            }
            if ends { finish(frame.stream) }
        case Frame.data:
            streams[frame.stream, default: Partial()].body += frame.payload
            if ends { finish(frame.stream) }
        default:
            break
        }
    }

    private mutating func finish(_ stream: Int) {
        guard let partial = streams.removeValue(forKey: stream), let head = partial.head,
            let status = head.first(name: ":status").flatMap({ Int($0) })
        else { return }
        let headers = head.filter { !$0.name.hasPrefix(":") }.map { (name: $0.name, value: $0.value) }
        outcomes[stream] = .reply(RawReply(status: status, headers: headers, body: partial.body))
    }
}
