/// A frame of HTTP/2 (RFC 9113, section 4.1).
struct Frame {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case priority = 2
        case reset = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    struct Flags {
        static let ack: UInt8 = 0x1
        static let endStream: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    static let headLength = 9
    /// The largest payload that is accepted, and sent: what every peer accepts.
    static let payloadLimit = 16_384

    let type: UInt8
    let flags: UInt8
    let stream: UInt32
    let payload: ArraySlice<UInt8>

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// The payload without padding and without a priority; nil when they do not fit.
    var content: ArraySlice<UInt8>? {
        var content = payload
        if has(Flags.padded) {
            guard let padding = content.popFirst(), Int(padding) <= content.count else { return nil }
            content = content.dropLast(Int(padding))
        }
        if type == Kind.headers.rawValue, has(Flags.priority) {
            guard content.count >= 5 else { return nil }
            content = content.dropFirst(5)
        }
        return content
    }

    /// Appends a frame.
    static func write(
        _ kind: Kind, _ flags: UInt8 = 0, stream: UInt32, _ payload: some Collection<UInt8>, to bytes: inout [UInt8]
    ) {
        let length = payload.count
        bytes.append(UInt8(truncatingIfNeeded: length >> 16))
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
        bytes.append(kind.rawValue)
        bytes.append(flags)
        append(stream, to: &bytes)
        bytes.append(contentsOf: payload)
    }

    static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    /// Takes frames off received bytes.
    struct Reader {
        struct TooLarge: Error {}

        private var bytes: [UInt8] = []
        private var start = 0

        mutating func append(_ more: some Sequence<UInt8>) {
            if start > 0 {
                bytes.removeFirst(start)
                start = 0
            }
            bytes.append(contentsOf: more)
        }

        /// The next frame, if it is there as a whole.
        mutating func next() throws(TooLarge) -> Frame? {
            let rest = bytes[start...]
            guard rest.count >= headLength else { return nil }
            let length = Int(rest[start]) << 16 | Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            guard length <= payloadLimit else { throw TooLarge() }
            let end = start + headLength + length
            guard end <= bytes.count else { return nil }
            let frame = Frame(
                type: rest[start + 3], flags: rest[start + 4], stream: number(rest[(start + 5)...]) & 0x7FFF_FFFF,
                payload: bytes[(start + headLength)..<end])
            start = end
            return frame
        }
    }
}
