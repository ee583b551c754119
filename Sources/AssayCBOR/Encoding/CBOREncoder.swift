internal import CLibCBOR

/// Encodes values with definite lengths and shortest heads, the pairs of maps in the order they have (RFC 8949,
/// section 4.1).
public struct CBOREncoder: Sendable {
    /// An encoder; it has no settings.
    public init() {}

    /// The encoding of a value, whose nesting the caller answers for.
    public func encode(_ value: CBORValue) -> [UInt8] {
        var output: [UInt8] = []
        append(value, to: &output)
        return output
    }

    private func append(_ value: CBORValue, to output: inout [UInt8]) {
        switch value {
        case .unsigned(let number): append(&output) { cbor_encode_uint(number, $0, $1) }
        case .negative(let number): append(&output) { cbor_encode_negint(number, $0, $1) }
        case .bytes(let bytes):
            append(&output) { cbor_encode_bytestring_start(bytes.count, $0, $1) }
            output += bytes
        case .text(let text):
            append(&output) { cbor_encode_string_start(text.utf8.count, $0, $1) }
            output += text.utf8
        case .array(let elements):
            append(&output) { cbor_encode_array_start(elements.count, $0, $1) }
            for element in elements { append(element, to: &output) }
        case .map(let pairs):
            append(&output) { cbor_encode_map_start(pairs.count, $0, $1) }
            for pair in pairs {
                append(pair.key, to: &output)
                append(pair.value, to: &output)
            }
        case .tag(let number, let content):
            append(&output) { cbor_encode_tag(number, $0, $1) }
            append(content, to: &output)
        case .bool(let value): append(&output) { cbor_encode_bool(value, $0, $1) }
        case .null: append(&output) { cbor_encode_null($0, $1) }
        case .undefined: append(&output) { cbor_encode_undef($0, $1) }
        case .simple(let value): append(&output) { cbor_encode_ctrl(value, $0, $1) }
        case .float(let number): append(number, to: &output)
        }
    }

    /// The shortest width that keeps the value (RFC 8949, section 4.2.2).
    private func append(_ number: Double, to output: inout [UInt8]) {
        let half = Float16(number)
        if number.isNaN {
            output += [0xF9, 0x7E, 0x00]
        } else if Double(half) == number {
            // libcbor's own encoder of halves loses digits of subnormal numbers.
            output += [0xF9, UInt8(half.bitPattern >> 8), UInt8(truncatingIfNeeded: half.bitPattern)]
        } else if Double(Float(number)) == number {
            append(&output) { cbor_encode_single(Float(number), $0, $1) }
        } else {
            append(&output) { cbor_encode_double(number, $0, $1) }
        }
    }

    /// Appends a head, which takes nine bytes at most.
    private func append(_ output: inout [UInt8], _ encode: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { buffer in
            let count = encode(buffer.baseAddress, buffer.count)
            output.append(contentsOf: buffer.prefix(max(0, min(count, 9))))
        }
    }
}
