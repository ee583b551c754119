#if Simulator
internal import NIOCore

/// What a load reads of a response.
struct LoadReply: Sendable {
    let status: Int
    let body: [UInt8]
    /// Whether the server closes the connection.
    let closes: Bool

    var isSuccess: Bool { (200..<300).contains(status) }
}

/// Reads responses of HTTP/1.1 from the bytes of a connection.
///
/// It reads what a load needs and nothing else, because the load's own cost is measured with the server's: the status, the length,
/// and whether the connection ends. A response in chunks is not read.
struct LoadReplyReader {
    private static let headLimit = 65_536
    private static let bodyLimit = 1_048_576

    private var buffer = ByteBuffer()
    private var head: (status: Int, length: Int, closes: Bool)?

    /// Adds bytes that arrived.
    mutating func append(_ bytes: inout ByteBuffer) {
        if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeBuffer(&bytes) }
    }

    /// The next response, as soon as it is whole.
    mutating func next() throws(LoadFailure) -> LoadReply? {
        while true {
            if head == nil {
                guard let size = headSize() else {
                    guard buffer.readableBytes <= Self.headLimit else {
                        throw LoadFailure("a response's head is too long")
                    }
                    return nil
                }
                let fields = Self.read(buffer.readableBytesView.prefix(size))
                buffer.moveReaderIndex(forwardBy: size)
                guard let fields else { throw LoadFailure("a response is not HTTP/1.1 with a length") }
                // An interim response, such as 100.
                if (100..<200).contains(fields.status) { continue }
                head = fields
            }
            guard let known = head else { return nil }
            guard known.length <= Self.bodyLimit else { throw LoadFailure("a response's body is too long") }
            guard let body = buffer.readBytes(length: known.length) else { return nil }
            head = nil
            return LoadReply(status: known.status, body: body, closes: known.closes)
        }
    }

    /// How long the head is, with the empty line at its end.
    private func headSize() -> Int? {
        buffer.withUnsafeReadableBytes { bytes in
            guard bytes.count >= 4 else { return nil }
            for index in 3..<bytes.count where bytes[index] == 0x0A {
                if bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A, bytes[index - 3] == 0x0D { return index + 1 }
            }
            return nil
        }
    }

    private static func read(_ head: ByteBufferView) -> (status: Int, length: Int, closes: Bool)? {
        var lines = head.split(separator: 0x0A)[...]
        guard let first = lines.popFirst(), first.starts(with: "HTTP/1.1 ".utf8) else { return nil }
        guard let status = Int(String(decoding: first.dropFirst(9).prefix(3), as: UTF8.self)) else { return nil }
        var length: Int? = status == 204 || status == 304 || status < 200 ? 0 : nil
        var closes = false
        for line in lines {
            if let value = Self.value(of: line, "content-length:"), length == nil {
                guard let number = Int(String(decoding: value, as: UTF8.self)), number >= 0 else { return nil }
                length = number
            } else if let value = Self.value(of: line, "connection:") {
                closes = closes || value.map { $0 | 0x20 }.starts(with: "close".utf8)
            } else if Self.value(of: line, "transfer-encoding:") != nil {
                return nil
            }
        }
        return length.map { (status, $0, closes) }
    }

    /// The value of a line that has a field with this name, which is in lower case.
    private static func value(of line: ByteBufferView, _ name: StaticString) -> ByteBufferView? {
        let isNamed = name.withUTF8Buffer { name in
            line.count > name.count && zip(line, name).allSatisfy { ($0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0) == $1 }
        }
        guard isNamed else { return nil }
        let value = line.dropFirst(name.utf8CodeUnitCount).drop { $0 == 0x20 }
        return value.last == 0x0D ? value.dropLast() : value
    }
}
#endif
