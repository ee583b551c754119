import AssayTestSupport

/// What a stranger sends on one connection of HTTP/2: calls with heads that were changed at random, and frames of every kind.
///
/// The bytes are written here, because no library writes what is wrong.
struct StrangeConnection {
    typealias Field = (name: [UInt8], value: [UInt8])

    private var random: SplitMix
    private(set) var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private var nextStream: UInt32 = 1

    private static let check = "/envoy.service.auth.v3.Authorization/Check"
    private static let names = [
        ":method", ":path", ":scheme", ":authority", ":status", ":protocol", ":x", "", " ", "te", "content-type",
        "content-length",
        "connection", "transfer-encoding", "host", "cookie", "expect", "user-agent", "grpc-timeout", "grpc-encoding",
        "grpc-accept-encoding", "grpc-message-type", "grpc-status", "grpc-message", "grpc-retry-pushback-ms",
        "grpc-previous-rpc-attempts", "grpc-trace-bin", "grpc-tags-bin", "key-bin", "Grpc-Timeout", "GRPC-TIMEOUT",
        "x\u{0}y", "\u{E9}",
    ]
    private static let values = [
        "", " ", "0", "-0", "-1", "+1", "1", "255", "65536", "2147483648", "4294967296", "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809", "18446744073709551616", "1e9", "0x1F", "NaN", "-inf", "1.5", "0S", "-1S", "-1n",
        "-9999999H", "+1S",
        "1S", "99999999H", "99999999n", "999999999S", "S", "HH", "1\u{0}S", "-", "=", "====", "AAA", "AA==", "A",
        "////", "____", "%",
        "%%", "%4", "%zz", "%00", ",", ",,", "gzip", "deflate", "identity", "gzip,gzip,deflate", "identity, ", "zstd",
        "trailers",
        "application/grpc", "application/grpc+proto", "application/grpc;", "application/json", "POST", "GET", "CONNECT",
        "http", "https",
        check, "/", "//", "///", "/a", "/a/", "/envoy.service.auth.v3.Authorization", "/grpc.health.v1.Health/Watch",
        "*", "chunked",
        "\r\n", "\u{7F}", "\u{E9}", "e\u{301}", "\u{FEFF}", String(repeating: "9", count: 400),
        String(repeating: ",", count: 900),
    ]

    init(seed: UInt64) {
        random = SplitMix(seed: seed)
        frame(4, [])
    }

    /// A call whose head is wrong somewhere, with one whole message.
    mutating func call() {
        var fields: [Field] = [
            (":method", "POST"), (":scheme", "http"), (":path", Self.check), (":authority", "localhost"),
            ("te", "trailers"),
            ("content-type", "application/grpc"), ("grpc-timeout", "10S"),
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

    /// A frame of any kind, which may end the connection.
    mutating func strangeFrame() {
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

    private mutating func noise(_ most: Int) -> [UInt8] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func change(_ fields: inout [Field]) {
        let index = fields.isEmpty ? nil : Int.random(in: 0..<fields.count, using: &random)
        let field: Field = (Array(random.pick(Self.names).utf8), Array(random.pick(Self.values).utf8))
        switch (random.next() % 8, index) {
        case (0, let index?): fields.remove(at: index)
        case (1, let index?): fields.append(fields[index])
        case (2, _): fields.shuffle(using: &random)
        case (3, let index?): fields[index].name = field.name
        case (4, let index?): fields[index].value = field.value
        case (5, let index?): fields[index].value = noise(12)
        case (6, _): fields.append((Array("grpc-timeout".utf8), field.value))
        default: fields.append(field)
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
