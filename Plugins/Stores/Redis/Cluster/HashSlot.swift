/// The slot of a key: CRC-16 (XMODEM) of the part between the first braces, or of the whole key (Redis Cluster
/// specification, "Hash tags").
enum HashSlot {
    static let count = 16_384

    static func of(_ key: some RandomAccessCollection<UInt8>) -> Int {
        let (opening, closing) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        if let start = key.firstIndex(of: opening) {
            let rest = key[key.index(after: start)...]
            if let end = rest.firstIndex(of: closing), end != rest.startIndex {
                return Int(checksum(rest[..<end])) % count
            }
        }
        return Int(checksum(key)) % count
    }

    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(UInt16(0)) { $0 << 8 ^ table[Int(UInt8($0 >> 8) ^ $1)] }
    }

    private static let table: [UInt16] = (0..<256).map { index in
        (0..<8).reduce(UInt16(index) << 8) { crc, _ in crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
    }

    /// For each slot a short text that is in it.
    static let tags: [String] = {
        var tags = [String](repeating: "", count: count)
        var missing = count
        var number = 0
        while missing > 0 {
            let tag = "\(number)"
            let slot = of(Array(tag.utf8))
            if tags[slot].isEmpty {
                tags[slot] = tag
                missing -= 1
            }
            number += 1
        }
        return tags
    }()
}
