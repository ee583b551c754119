internal import AssayCore
internal import GRPCCore
internal import GRPCProtobuf

/// Reads a check if it does not have too many fields.
///
/// A field of two bytes becomes a value many times as large, so the fields are counted before any value is made.
struct CheckDeserializer: MessageDeserializer {
    /// The path to the fields that a client of Envoy can repeat: a check's attributes, their request, its HTTP request,
    /// and its `header_map`.
    private static let path: [UInt64] = [1, 4, 2, 13]

    private let fieldLimit: Int

    init(_ limits: ExtAuthzLimits) {
        // Each header twice, and room for Envoy's other fields.
        fieldLimit = 2 * limits.headerFields + 512
    }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Envoy_Service_Auth_V3_CheckRequest {
        var left = fieldLimit
        let isAcceptable = bytes.withUnsafeBytes {
            CheckDeserializer.count($0[...], CheckDeserializer.path[...], &left)
        }
        guard isAcceptable else {
            throw RPCError(code: .invalidArgument, message: "The check has more than \(fieldLimit) fields.")
        }
        return try ProtobufDeserializer<Envoy_Service_Auth_V3_CheckRequest>().deserialize(bytes)
    }

    /// Counts the fields of a message, and those of the messages on a path below it.
    ///
    /// - Parameter left: how many more are allowed.
    /// - Returns: false when there are more. Invalid bytes are left to the decoder, which stops at the same byte.
    private static func count(_ bytes: Slice<UnsafeRawBufferPointer>, _ path: ArraySlice<UInt64>, _ left: inout Int)
        -> Bool
    {
        var reader = WireReader(bytes)
        while let field = reader.next() {
            guard left > 0 else { return false }
            left -= 1
            guard let content = field.content, field.number == path.first else { continue }
            guard count(content, path.dropFirst(), &left) else { return false }
        }
        return true
    }
}

/// The fields of a message in the wire format of protocol buffers.
private struct WireReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: Slice<UnsafeRawBufferPointer>) {
        rest = bytes
    }

    /// The next field, and its bytes if it has a length.
    ///
    /// Nil at the end, and when the bytes are invalid.
    mutating func next() -> (number: UInt64, content: Slice<UnsafeRawBufferPointer>?)? {
        guard let tag = varint() else { return nil }
        let number = tag >> 3
        switch tag & 7 {
        case 0: return varint().map { _ in (number, nil) }
        case 1: return skip(8).map { _ in (number, nil) }
        case 2:
            guard let length = varint().flatMap({ Int(exactly: $0) }), let content = skip(length) else { return nil }
            return (number, content)
        // The beginning and the end of a group, whose fields count as well.
        case 3, 4: return (number, nil)
        case 5: return skip(4).map { _ in (number, nil) }
        default: return nil
        }
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= shift < 64 ? UInt64(byte & 0x7F) << shift : 0
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func skip(_ count: Int) -> Slice<UnsafeRawBufferPointer>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
