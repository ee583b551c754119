package import NIOCore
package import SwiftProtobuf

/// Messages of gRPC: a byte for the compression, the length, and the message.
package enum GRPCMessage {
    static let prefixLength = 5

    package static func encode(_ message: some Message, _ allocator: ByteBufferAllocator = ByteBufferAllocator()) throws
        -> ByteBuffer
    {
        let bytes: [UInt8] = try message.serializedBytes()
        var buffer = allocator.buffer(capacity: prefixLength + bytes.count)
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }

    /// A message with its prefix.
    static func bytes(of message: some Message) throws -> [UInt8] {
        let bytes: [UInt8] = try message.serializedBytes()
        let length = UInt32(bytes.count)
        var all: [UInt8] = [0]
        all.reserveCapacity(prefixLength + bytes.count)
        for shift in [24, 16, 8, 0] as [UInt32] { all.append(UInt8(truncatingIfNeeded: length >> shift)) }
        all += bytes
        return all
    }

    /// The bytes of the only message; nil when there is another number of them, or a compressed one.
    static func payload(of buffer: ByteBuffer) -> ByteBufferView? {
        var buffer = buffer
        guard let (isCompressed, length) = buffer.readMultipleIntegers(as: (UInt8, UInt32).self), isCompressed == 0,
            length == buffer.readableBytes
        else { return nil }
        return buffer.readableBytesView
    }
}

/// A status of gRPC that is not OK, with its message.
package struct GRPCFailure: Error, CustomStringConvertible {
    /// The codes that this transport uses, with gRPC's numbers.
    package enum Code: Int, Sendable {
        case cancelled = 1
        case unknown = 2
        case invalidArgument = 3
        case deadlineExceeded = 4
        case notFound = 5
        case permissionDenied = 7
        case resourceExhausted = 8
        case failedPrecondition = 9
        case unimplemented = 12
        case internalError = 13
        case unavailable = 14
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// The percent coding of `grpc-message`.
enum GRPCText {
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8.prefix(1024) {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func decode(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8.prefix(4096))[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
