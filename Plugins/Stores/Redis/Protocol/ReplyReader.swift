internal import AssayCore
internal import CLibHiredis
internal import NIOCore

/// Reads the answers of one connection with hiredis' parser, within the bounds of ``ReplyScanner``.
///
/// Used on one event loop only.
final class ReplyReader {
    private var reader: UnsafeMutablePointer<redisReader>?
    private var scanner: ReplyScanner

    init(limits: ReplyScanner.Limits = .init()) {
        reader = redisReaderCreate()
        scanner = ReplyScanner(limits: limits)
    }

    deinit { redisReaderFree(reader) }

    /// The answers that are complete with these bytes.
    ///
    /// - Throws: `ReplyScanner.Violation`; then no more bytes of the connection are read.
    func read(_ buffer: ByteBuffer) throws(ReplyScanner.Violation) -> [RedisReply] {
        let outcome = buffer.withUnsafeReadableBytes { bytes in
            Result { () throws(ReplyScanner.Violation) in try read(bytes) }
        }
        return try outcome.get()
    }

    private func read(_ bytes: UnsafeRawBufferPointer) throws(ReplyScanner.Violation) -> [RedisReply] {
        try scanner.scan(bytes)
        guard let reader,
            redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) == 0
        else { throw ReplyScanner.Violation("an answer that the parser refuses") }
        var replies: [RedisReply] = []
        while true {
            var found: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &found) == 0 else {
                throw ReplyScanner.Violation("an answer that the parser refuses")
            }
            guard let found else { return replies }
            defer { freeReplyObject(found) }
            replies.append(RedisReply(found.assumingMemoryBound(to: redisReply.self), depth: 0))
        }
    }
}

extension RedisReply {
    /// Copies an answer of hiredis; the scanner has bounded its depth.
    fileprivate init(_ pointer: UnsafeMutablePointer<redisReply>, depth: Int) {
        let reply = pointer.pointee
        switch reply.type {
        case REDIS_REPLY_INTEGER: self = .integer(reply.integer)
        case REDIS_REPLY_STRING: self = .bulk(RedisReply.bytes(reply))
        case REDIS_REPLY_STATUS: self = .status(String(decoding: RedisReply.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: self = .error(ServerError(String(decoding: RedisReply.bytes(reply), as: UTF8.self)))
        case REDIS_REPLY_ARRAY where depth < 8:
            let elements = UnsafeMutableBufferPointer(start: reply.element, count: Int(reply.elements))
            self = .array(elements.map { element in element.map { RedisReply($0, depth: depth + 1) } ?? .null })
        default: self = .null
        }
    }

    private static func bytes(_ reply: redisReply) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: reply.str, count: Int(reply.len)))
    }
}
