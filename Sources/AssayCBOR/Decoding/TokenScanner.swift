internal import CLibCBOR

/// Reads heads from the input through libcbor's streaming decoder, which allocates nothing.
struct TokenScanner {
    private let input: UnsafeBufferPointer<UInt8>
    private let isStrict: Bool
    private var callbacks = TokenCallbacks.all
    /// How much has been read.
    private(set) var offset = 0

    init(_ input: UnsafeBufferPointer<UInt8>, isStrict: Bool) {
        self.input = input
        self.isStrict = isStrict
    }

    var remaining: Int { input.count - offset }

    mutating func next() throws(CBORError) -> Token {
        guard offset < input.count, let start = input.baseAddress?.advanced(by: offset) else {
            throw CBORError(.truncated, at: offset)
        }
        let head = start.pointee
        if isStrict { try refuseLoose(head) }
        if let token = try unnamed(head) { return token }

        var token: Token?
        let result = withUnsafeMutablePointer(to: &token) { place in
            cbor_stream_decode(start, remaining, &callbacks, place)
        }
        switch result.status {
        case CBOR_DECODER_FINISHED:
            // A token without a callback cannot be: all of them are set.
            guard let token, result.read > 0, result.read <= remaining else {
                throw CBORError(.malformed, at: offset)
            }
            if isStrict, !Self.isShortest(token, head) { throw CBORError(.nonShortestHead, at: offset) }
            offset += result.read
            return token
        case CBOR_DECODER_NEDATA:
            throw CBORError(.truncated, at: offset)
        default:
            throw CBORError(.malformed, at: offset)
        }
    }

    /// What the strict profile refuses by the first byte alone.
    private func refuseLoose(_ head: UInt8) throws(CBORError) {
        switch (head >> 5, head & 0x1F) {
        case (2...5, 31): throw CBORError(.indefiniteLength, at: offset)
        case (6, 0...27): throw CBORError(.unsupported, at: offset)
        case (7, 20...22), (7, 28...31): break
        case (7, _): throw CBORError(.unsupported, at: offset)
        default: break
        }
    }

    /// Tags and simple values without a meaning, which libcbor refuses (RFC 8949, sections 3.3 and 3.4).
    private mutating func unnamed(_ head: UInt8) throws(CBORError) -> Token? {
        switch head {
        case 0xC0...0xD7:
            offset += 1
            return .tag(UInt64(head & 0x1F))
        case 0xE0...0xF3:
            offset += 1
            return .simple(head & 0x1F)
        case 0xF8:
            guard remaining >= 2 else { throw CBORError(.truncated, at: offset) }
            let value = input[offset + 1]
            // Two bytes must not say what one byte could.
            guard value >= 32 else { throw CBORError(.malformed, at: offset) }
            offset += 2
            return .simple(value)
        default:
            return nil
        }
    }

    private static func isShortest(_ token: Token, _ head: UInt8) -> Bool {
        let argument: UInt64
        switch token {
        case .unsigned(let number), .negative(let number): argument = number
        case .bytes(let content), .text(let content): argument = UInt64(content.count)
        case .array(let count?), .map(let count?): argument = UInt64(clamping: count)
        default: return true
        }
        switch head & 0x1F {
        case 24: return argument >= 24
        case 25: return argument > UInt64(UInt8.max)
        case 26: return argument > UInt64(UInt16.max)
        case 27: return argument > UInt64(UInt32.max)
        default: return true
        }
    }
}
