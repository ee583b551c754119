internal import AssayCBOR
internal import AssayCore

extension FuzzTarget {
    /// Accepted is what the generic profile accepts; the strict one accepts some of it, and nothing else.
    func judgeCBOR(_ input: [UInt8]) throws -> FuzzVerdict {
        let strict = Self.decoded(input, CBORDecoder(limits: .evidence, profile: .strict))
        let generic = Self.decoded(input, CBORDecoder(limits: .generic, profile: .generic))
        try judgePrefix(input)
        if case .success(let value) = strict {
            try BrokenPromise.unless((try? generic.get()) == value, "both profiles read the same value")
            try BrokenPromise.unless(CBOREncoder().encode(value) == input, "a strict encoding is the encoder's own")
        }
        switch generic {
        case .success(let value):
            let encoded = CBOREncoder().encode(value)
            // Compared as encoded, which makes all not-a-numbers one.
            let again = Self.decoded(encoded, CBORDecoder(limits: .generic, profile: .generic))
            try BrokenPromise.unless(
                (try? again.get()).map(CBOREncoder().encode) == encoded, "what was decoded can be encoded and decoded")
            return .accepted
        case .failure(let error):
            return .refused(error.code.rawValue)
        }
    }

    /// An item is read the same wherever it stands, and what follows it does not matter.
    private func judgePrefix(_ input: [UInt8]) throws {
        let decoder = CBORDecoder(limits: .generic, profile: .generic)
        guard let (value, count) = try? decoder.decodeFirst(input[...]) else { return }
        try BrokenPromise.unless((1...input.count).contains(count), "an item takes some of the bytes")
        let moved = [0xF6] + input + [0xFF]
        let again = try decoder.decodeFirst(moved.dropFirst())
        try BrokenPromise.unless(again.value == value && again.count == count, "an item is the same at another place")
    }

    private static func decoded(_ input: [UInt8], _ decoder: CBORDecoder) -> Result<CBORValue, CBORError> {
        Result { () throws(CBORError) in try decoder.decode(input) }
    }
}
