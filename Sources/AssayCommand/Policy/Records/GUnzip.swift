internal import CLibZ

/// Decompresses gzip (RFC 1952), piece by piece; several files one after the other are one text.
final class GUnzip {
    /// The first bytes of a compressed file.
    static let magic: [UInt8] = [0x1F, 0x8B]

    private static let window: Int32 = 15 + 16
    private var stream = z_stream()
    private var isReady = false
    private var output = [UInt8](repeating: 0, count: 1 << 18)

    /// Whether the compressed data are complete so far.
    private(set) var isAtEnd = false

    init() {
        isReady = inflateInit2_(&stream, Self.window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        if isReady { inflateEnd(&stream) }
    }

    /// Decompresses a piece; false when the data are damaged.
    func read(_ piece: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) -> Bool {
        guard isReady else { return false }
        var input = Array(piece)
        return input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            defer { stream.next_in = nil }
            repeat {
                if isAtEnd {
                    // The next file begins.
                    guard stream.avail_in > 0 else { return true }
                    guard inflateReset(&stream) == Z_OK else { return false }
                    isAtEnd = false
                }
                let (status, count) = output.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let status = inflate(&stream, Z_NO_FLUSH)
                    return (status, output.count - Int(stream.avail_out))
                }
                guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { return false }
                isAtEnd = status == Z_STREAM_END
                body(output[..<count])
            } while stream.avail_in > 0 || stream.avail_out == 0
            return true
        }
    }
}
