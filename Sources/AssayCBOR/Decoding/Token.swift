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
