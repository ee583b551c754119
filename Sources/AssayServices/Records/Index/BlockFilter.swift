internal import AssayCore
internal import CLibZ

/// The terms of a block of lines as a Bloom filter: it may have a term that was not added, and never lacks one that was.
struct BlockFilter {
    /// The hashes of the terms that were added.
    private var terms: Set<UInt64> = []

    /// Bits for each term; with four of them set, about two of a hundred other terms seem to be there.
    private static let bitsPerTerm = 10
    private static let largest = 1 << 20

    /// Whether there were too many: any term seems to be there.
    private var isFull = false

    private static let limit = 4_000_000

    mutating func add(_ term: UInt64) {
        if terms.count < BlockFilter.limit { terms.insert(term) } else { isFull = true }
    }

    /// The bits, as bytes.
    var bytes: [UInt8] {
        if isFull { return [0xFF] }
        let wanted = min(max(terms.count * BlockFilter.bitsPerTerm / 8 + 1, 16), BlockFilter.largest)
        var bytes = [UInt8](repeating: 0, count: wanted)
        let bits = UInt64(wanted * 8)
        for term in terms {
            for bit in BlockFilter.bits(of: term, bits) { bytes[bit >> 3] |= 1 << UInt8(bit & 7) }
        }
        return bytes
    }

    /// Whether a term may have been added.
    static func has(_ term: UInt64, in filter: ArraySlice<UInt8>) -> Bool {
        guard !filter.isEmpty else { return false }
        return bits(of: term, UInt64(filter.count * 8)).allSatisfy { bit in
            filter[filter.startIndex + bit >> 3] & (1 << UInt8(bit & 7)) != 0
        }
    }

    private static func bits(of term: UInt64, _ count: UInt64) -> [Int] {
        let step = (term >> 32) | 1
        return (0..<4).map { Int((term &+ UInt64($0) &* step) % count) }
    }

    /// The hash of the text of a field.
    static func term(_ field: RecordFields.Field, _ text: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(field.rawValue + 1)
        text.withUnsafeBytes { bytes in
            var index = 0
            while index < bytes.count {
                hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
                index += 1
            }
        }
        // FNV leaves the upper bits of similar texts similar.
        hash ^= hash >> 33
        hash &*= 0xFF51_AFD7_ED55_8CCD
        return hash ^ hash >> 33
    }
}

/// A running check sum (CRC-32), against accidents.
struct CheckSum {
    private(set) var value: UInt32 = 0

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        value = bytes.withUnsafeBufferPointer {
            UInt32(truncatingIfNeeded: crc32_z(uLong(value), $0.baseAddress, $0.count))
        }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum = CheckSum()
        sum.add(bytes)
        return sum.value
    }
}
