/// What a stranger sends on one connection of HTTP/2: calls with heads that were changed at random, and frames of every kind.
///
/// The bytes are written here, because no library writes what is wrong.
public struct StrangeConnection {
    private typealias Field = (name: [UInt8], value: [UInt8])

    private var random: SplitMix
    /// What was written, with the preface.
    public private(set) var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private var nextStream: UInt32 = 1

    private let path: String
    /// Names that HTTP/2 permits.
    private static let names = [
        "content-length", "content-type", "host", "cookie", "expect", "user-agent", "grpc-encoding",
        "grpc-accept-encoding",
        "grpc-message-type", "grpc-status", "grpc-message", "grpc-retry-pushback-ms", "grpc-previous-rpc-attempts",
        "grpc-trace-bin", "grpc-tags-bin", "key-bin",
    ]
    /// Names that it does not, or not with every value.
    private static let wrongNames = [
        ":method", ":path", ":scheme", ":authority", ":status", ":protocol", ":x", "", " ", "te", "connection",
        "transfer-encoding", "Grpc-Timeout", "GRPC-TIMEOUT", "x\u{0}y", "\u{E9}",
    ]
    private static let timeouts = [
        "0S", "-1S", "-1n", "-9999999H", "+1S", "1S", "99999999H", "99999999n", "999999999S", "S", "HH", "1\u{0}S", "",
        "1",
    ]
    private static let values = [
        "", " ", "0", "-0", "-1", "+1", "1", "255", "65536", "2147483648", "4294967296", "9223372036854775807",
        "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e9", "0x1F", "NaN", "-inf", "1.5", "-",
        "=", "====", "AAA", "AA==", "A", "////", "____", "%", "%%", "%4", "%zz", "%00", ",", ",,", "gzip", "deflate",
        "identity", "gzip,gzip,deflate", "identity, ", "zstd", "trailers", "application/grpc", "application/grpc+proto",
        "application/grpc;", "application/json", "POST", "GET", "CONNECT", "http", "https", "/", "//", "///", "/a",
        "/a/",
        "/envoy.service.auth.v3.Authorization", "/grpc.health.v1.Health/Watch", "*", "chunked", "\r\n", "\u{7F}",
        "\u{E9}",
        "e\u{301}", "\u{FEFF}", String(repeating: "9", count: 400), String(repeating: ",", count: 900),
    ]

    /// Begins a connection with its preface.
    ///
    /// - Parameter path: the path of a method that the server has.
    public init(seed: UInt64, path: String) {
        self.path = path
        random = SplitMix(seed: seed)
        frame(4, [])
    }

    /// Writes a call whose head is wrong somewhere, with one whole message.
    public mutating func call() {
        var fields: [Field] = [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
        ].map { (Array($0.0.utf8), Array($0.1.utf8)) }
        for _ in 0..<Int.random(in: 1...3, using: &random) { change(&fields) }
        let stream = nextStream
        nextStream += 2
        let block = Self.block(fields)
        let cut = random.happens(onceIn: 4) ? Int.random(in: 0...block.count, using: &random) : block.count
        let ends: UInt8 = random.happens(onceIn: 20) ? 1 : 0
        frame(1, flags: ends | (cut == block.count ? 4 : 0), stream: stream, Array(block[..<cut]))
        if cut < block.count { frame(9, flags: 4, stream: stream, Array(block[cut...])) }
        let message = random.happens(onceIn: 10) ? noise(40) : [0, 0, 0, 0, 0]
        if ends == 0 { frame(0, flags: 1, stream: stream, message) }
    }

    /// Writes a frame of any kind, which may end the connection.
    public mutating func strangeFrame() {
        let kind = UInt8.random(in: 0...0x11, using: &random)
        let stream = UInt32.random(in: 0...nextStream + 2, using: &random)
        let word = { (value: UInt32) in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        let extremes: [UInt32] = [0, 1, 0x3FFF, 0x4000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, .max]
        let payload: [UInt8] =
            switch random.next() % 4 {
            case 0: [0, UInt8.random(in: 0...9, using: &random)] + word(random.pick(extremes))
            case 1: word(random.pick(extremes))
            case 2: []
            default: noise(64)
            }
        frame(kind, flags: UInt8.random(in: 0...255, using: &random), stream: stream, payload)
    }

    /// Writes a PING, whose answer says that everything before was read.
    ///
    /// - Returns: the bytes of the answer.
    public mutating func ping() -> [UInt8] {
        let content = Array("the end.".utf8)
        frame(6, content)
        return Array([0, 0, 8, 6, 1, 0, 0, 0, 0] + content)
    }

    private mutating func noise(_ most: Int) -> [UInt8] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func change(_ fields: inout [Field]) {
        let value = Array(random.pick(Self.values).utf8)
        // What is wrong for HTTP/2 ends its connection, and comes no further.
        guard random.happens(onceIn: 6), let index = fields.indices.randomElement(using: &random) else {
            if random.happens(onceIn: 3) {
                fields.append((Array("grpc-timeout".utf8), Array(random.pick(Self.timeouts).utf8)))
            } else {
                fields.append((Array(random.pick(Self.names).utf8), value))
            }
            return
        }
        switch random.next() % 7 {
        case 0: fields.remove(at: index)
        case 1: fields.append(fields[index])
        case 2: fields.shuffle(using: &random)
        case 3: fields[index].name = Array(random.pick(Self.wrongNames).utf8)
        case 4: fields[index].value = value
        case 5: fields[index].value = noise(12)
        default: fields.append((Array(random.pick(Self.wrongNames).utf8), value))
        }
    }

    private mutating func frame(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8]) {
        bytes += withUnsafeBytes(of: UInt32(payload.count).bigEndian) { Array($0.dropFirst()) }
        bytes += [kind, flags]
        bytes += withUnsafeBytes(of: stream.bigEndian) { Array($0) }
        bytes += payload
    }

    /// Literals without indexing and without Huffman's code (RFC 7541, section 6.2.2).
    private static func block(_ fields: [Field]) -> [UInt8] {
        fields.flatMap { [0] + text($0.name) + text($0.value) }
    }

    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest % 128) | 128)
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }
}
