internal import CLibCBOR

/// The functions by which libcbor hands over what it has read: each writes a token to where its context points.
enum TokenCallbacks {
    static var all: cbor_callbacks {
        cbor_callbacks(
            uint8: { Token.hand(.unsigned(UInt64($1)), to: $0) },
            uint16: { Token.hand(.unsigned(UInt64($1)), to: $0) },
            uint32: { Token.hand(.unsigned(UInt64($1)), to: $0) },
            uint64: { Token.hand(.unsigned($1), to: $0) },
            negint64: { Token.hand(.negative($1), to: $0) },
            negint32: { Token.hand(.negative(UInt64($1)), to: $0) },
            negint16: { Token.hand(.negative(UInt64($1)), to: $0) },
            negint8: { Token.hand(.negative(UInt64($1)), to: $0) },
            byte_string_start: { Token.hand(.chunkedBytes, to: $0) },
            byte_string: { Token.hand(.bytes(UnsafeBufferPointer(start: $1, count: Token.count($2))), to: $0) },
            string: { Token.hand(.text(UnsafeBufferPointer(start: $1, count: Token.count($2))), to: $0) },
            string_start: { Token.hand(.chunkedText, to: $0) },
            indef_array_start: { Token.hand(.array(nil), to: $0) },
            array_start: { Token.hand(.array(Token.count($1)), to: $0) },
            indef_map_start: { Token.hand(.map(nil), to: $0) },
            map_start: { Token.hand(.map(Token.count($1)), to: $0) },
            tag: { Token.hand(.tag($1), to: $0) },
            float2: { Token.hand(.float(Double($1)), to: $0) },
            float4: { Token.hand(.float(Double($1)), to: $0) },
            float8: { Token.hand(.float($1), to: $0) },
            undefined: { Token.hand(.undefined, to: $0) },
            null: { Token.hand(.null, to: $0) },
            boolean: { Token.hand(.bool($1), to: $0) },
            indef_break: { Token.hand(.stop, to: $0) })
    }
}

extension Token {
    fileprivate static func hand(_ token: Token, to context: UnsafeMutableRawPointer?) {
        context?.assumingMemoryBound(to: Token?.self).pointee = token
    }

    /// A size or count, which is a `size_t` (to Swift a signed number) in libcbor 0.8 and a `uint64_t` in later releases:
    /// one beyond the range becomes the greatest, which no input holds.
    fileprivate static func count(_ size: some BinaryInteger) -> Int { size < 0 ? Int.max : Int(clamping: size) }
}

/// The head of a data item, with its content where that has no parts.
enum Token {
    case unsigned(UInt64)
    case negative(UInt64)
    /// The content points into the input.
    case bytes(UnsafeBufferPointer<UInt8>)
    case text(UnsafeBufferPointer<UInt8>)
    /// A count of nil is an indefinite one.
    case array(Int?)
    /// The count is of pairs.
    case map(Int?)
    case chunkedBytes
    case chunkedText
    case tag(UInt64)
    case bool(Bool)
    case null
    case undefined
    case simple(UInt8)
    case float(Double)
    case stop
}
