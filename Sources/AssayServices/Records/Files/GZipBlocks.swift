internal import AssayCore
internal import CLibZ

/// Compressed audit files: gzip (RFC 1952) with one member for each block of lines, so that a block can be read alone.
///
/// Any tool for gzip reads such a file as a whole.
package enum GZipBlocks {
    /// How many bytes of lines a block has: it ends with the first line beyond.
    package static let blockSize = 131_072
    /// The longest block, for files that have no lines.
    static let blockLimit = 4 << 20
    static let gzipWindow: Int32 = 15 + 16

    /// Compresses a file to another one, which appears as a whole or not at all.
    ///
    /// - `isCancelled`: asked before each block.
    /// - Throws: ``AuditFileError``, `CancellationError`.
    package static func compress(
        _ path: String, to target: String, isCancelled: () -> Bool = { false }
    ) throws {
        let file = try FileBytes(path)
        var offset = 0
        var pending: [UInt8] = []
        var isAtEnd = false
        try Folder.replace(target, flushes: true) {
            if isCancelled() { throw CancellationError() }
            while !isAtEnd {
                if let end = blockEnd(pending) {
                    let block = pending[..<end]
                    pending = Array(pending[end...])
                    return try member(block)
                }
                let part = try file.read(at: offset, count: blockSize)
                offset += part.count
                pending += part
                isAtEnd = part.isEmpty
            }
            while !pending.isEmpty {
                let end = blockEnd(pending) ?? pending.count
                let block = pending[..<end]
                pending = Array(pending[end...])
                return try member(block)
            }
            return []
        }
    }

    /// Where the first block ends; nil when more bytes are needed.
    private static func blockEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= blockSize else { return nil }
        if let end = LineSplitter.newline(in: bytes, from: blockSize - 1) { return end + 1 }
        return bytes.count >= blockLimit ? bytes.count : nil
    }

    private static func member(_ block: ArraySlice<UInt8>) throws(AuditFileError) -> [UInt8] {
        var stream = z_stream()
        let code = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzipWindow, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { throw AuditFileError("no memory to compress") }
        defer { deflateEnd(&stream) }
        // The output always fits, so that one call does all the work.
        let most = Int(deflateBound(&stream, uLong(block.count)))
        var source = Array(block)
        var isWhole = false
        let member = source.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: most) { output, count in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = most - Int(stream.avail_out)
            }
        }
        guard isWhole else { throw AuditFileError("a block cannot be compressed") }
        return member
    }
}

/// Decompresses gzip piece by piece, with bounded memory, and to a bounded size.
///
/// All commands and the server decompress with it, so that one bound holds for all. It has a single owner, and so needs no
/// lock.
final class Inflater {
    /// The first bytes of what is compressed.
    static let magic: [UInt8] = [0x1F, 0x8B]

    private let stream: UnsafeMutablePointer<z_stream>
    private var input: [UInt8] = []
    private var position = 0
    private var fed = 0
    private var expanded = 0
    /// Whether a part of a member was read, and not yet all of it.
    private(set) var isWithinMember = false

    /// How many times its size a file may expand to; lines of JSON compress to a tenth or a twentieth.
    private static let expansionLimit = 250
    /// What it may expand to in any case.
    private static let expansionFloor = 64 << 20

    init() throws(AuditFileError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, GZipBlocks.gzipWindow, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            stream.deallocate()
            throw AuditFileError("no memory to decompress")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    enum Step {
        /// More input is needed.
        case starved
        /// Decompressed bytes; whether a member ended with them.
        case bytes([UInt8], endsMember: Bool)
    }

    /// How much of the input is not used yet.
    var unread: Int { input.count - position }

    func feed(_ bytes: [UInt8]) {
        input = bytes
        position = 0
        fed += bytes.count
    }

    /// The next bytes, at most `limit`.
    ///
    /// - Throws: ``AuditFileError`` for bytes that are not gzip, and for gzip that expands to too much.
    func next(limit: Int = 262_144) throws(AuditFileError) -> Step {
        guard unread > 0 || stream.pointee.avail_out == 0 && stream.pointee.total_out > 0 else { return .starved }
        var code: Int32 = Z_OK
        var used = 0
        let available = unread
        let output = input.withUnsafeMutableBufferPointer { buffer in
            [UInt8](unsafeUninitializedCapacity: limit) { output, count in
                stream.pointee.next_in = buffer.baseAddress.map { $0 + position }
                stream.pointee.avail_in = UInt32(available)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(limit)
                code = inflate(stream, Z_NO_FLUSH)
                used = available - Int(stream.pointee.avail_in)
                count = limit - Int(stream.pointee.avail_out)
            }
        }
        position += used
        if used > 0 { isWithinMember = true }
        expanded += output.count
        guard expanded <= max(Inflater.expansionFloor, Inflater.expansionLimit * fed) else {
            throw AuditFileError("the gzip data expands to more than \(Inflater.expansionLimit) times its size")
        }
        switch code {
        case Z_STREAM_END:
            inflateReset(stream)
            isWithinMember = false
            return .bytes(output, endsMember: true)
        case Z_OK, Z_BUF_ERROR:
            return output.isEmpty && unread == 0 ? .starved : .bytes(output, endsMember: false)
        default: throw AuditFileError("the gzip data is damaged")
        }
    }
}
