/// Decodes untrusted CBOR (RFC 8949) within limits.
///
/// Nothing is allocated for a length that the input merely declares, and the nesting of the input costs no recursion.
public struct CBORDecoder: Sendable {
    public let limits: CBORLimits
    public let profile: CBORProfile

    /// A decoder; without arguments, the one for evidence.
    public init(limits: CBORLimits = .evidence, profile: CBORProfile = .strict) {
        self.limits = limits
        self.profile = profile
    }

    /// The one item that the bytes hold.
    public func decode(_ bytes: [UInt8]) throws(CBORError) -> CBORValue {
        let (value, count) = try decodeFirst(bytes[...])
        guard count == bytes.count else { throw CBORError(.trailingBytes, at: count) }
        return value
    }

    /// The first item in the bytes, and how many bytes it takes; what follows is not looked at.
    ///
    /// Offsets in errors count from the beginning of the slice.
    public func decodeFirst(_ bytes: ArraySlice<UInt8>) throws(CBORError) -> (value: CBORValue, count: Int) {
        guard bytes.count <= limits.bytes else { throw CBORError(.tooLarge, at: limits.bytes) }
        return try bytes.withUnsafeBufferPointer { (input) throws(CBORError) in
            var scanner = TokenScanner(input, isStrict: profile == .strict)
            var builder = ValueBuilder(limits: limits)
            while true {
                let offset = scanner.offset
                let token = try scanner.next()
                if let value = try builder.accept(token, at: offset, remaining: scanner.remaining) {
                    return (value, scanner.offset)
                }
            }
        }
    }
}
