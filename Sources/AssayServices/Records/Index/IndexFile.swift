internal import AssayCore

/// The index of a file on disk: numbers in little-endian order, and a check sum at the end.
extension AuditIndex {
    /// With another number of fields, an index that was written before lacks some, and is made again.
    private static let magic = Array("ASSAYIX3.\(RecordFields.Field.allCases.count)".utf8)
    private static let sizeLimit = 512 << 20

    /// Reads the index of a file; nil when there is none that is whole.
    static func load(for path: String) -> AuditIndex? {
        guard let file = try? FileBytes("\(path).idx"), let status = file.status, status.isRegular,
            (magic.count + 4...sizeLimit).contains(status.size),
            let bytes = try? file.read(at: 0, count: status.size)
        else { return nil }
        return AuditIndex(bytes)
    }

    /// Writes the index beside its file.
    func save(for path: String) throws {
        var rest: [UInt8]? = encoded
        try Folder.replace("\(path).idx", flushes: false) {
            defer { rest = nil }
            return rest ?? []
        }
    }

    var encoded: [UInt8] {
        var writer = NumberWriter(AuditIndex.magic)
        writer.put(stamp.device)
        writer.put(stamp.inode)
        for number in [stamp.covered, stamp.size] { writer.put(UInt64(number)) }
        writer.put(UInt64(bitPattern: stamp.modified))
        writer.put(UInt64(stamp.firstSum) << 32 | UInt64(stamp.lastSum))
        writer.put(UInt64(blocks.count))
        for block in blocks {
            writer.put(UInt64(block.offset))
            writer.put(UInt64(block.length))
            writer.put(UInt64(bitPattern: block.first))
            writer.put(UInt64(bitPattern: block.last))
            writer.put(UInt64(block.sum) << 32 | UInt64(block.filter.count))
        }
        writer.put(UInt64(hours.count))
        for (hour, counts) in hours {
            writer.put(UInt64(bitPattern: hour))
            writer.put(UInt64(counts.counts.count) << 1 | (counts.isIncomplete ? 1 : 0))
            for (key, count) in counts.counts {
                writer.put(count)
                writer.put(UInt64(key.count))
                writer.bytes += key
            }
        }
        writer.bytes += filters
        let sum = CheckSum.of(writer.bytes[...])
        writer.put(UInt64(sum))
        return writer.bytes
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: AuditIndex.magic), bytes.count >= AuditIndex.magic.count + 8 else { return nil }
        var tail = NumberReader(bytes.suffix(8))
        guard let sum = tail.number(), sum == UInt64(CheckSum.of(bytes.dropLast(8))) else { return nil }
        var reader = NumberReader(bytes[AuditIndex.magic.count..<bytes.count - 8])
        guard let device = reader.number(), let inode = reader.number(), let covered = reader.count(),
            let size = reader.count(), let modified = reader.number(), let sums = reader.number(),
            let blockCount = reader.count()
        else { return nil }
        stamp = Stamp(
            device: device, inode: inode, covered: covered, size: size, modified: Int64(bitPattern: modified),
            firstSum: UInt32(truncatingIfNeeded: sums >> 32), lastSum: UInt32(truncatingIfNeeded: sums))
        var start = 0
        for _ in 0..<blockCount {
            guard let offset = reader.count(), let length = reader.count(), let first = reader.number(),
                let last = reader.number(), let sum = reader.number()
            else { return nil }
            let filter = Int(sum & 0xFFFF_FFFF)
            blocks.append(
                Block(
                    offset: offset, length: length, first: Int64(bitPattern: first), last: Int64(bitPattern: last),
                    sum: UInt32(truncatingIfNeeded: sum >> 32), filter: start..<start + filter))
            start += filter
        }
        guard let hourCount = reader.count() else { return nil }
        for _ in 0..<hourCount {
            guard let hour = reader.number(), let packed = reader.count() else { return nil }
            var counts: [[UInt8]: UInt64] = [:]
            for _ in 0..<packed >> 1 {
                guard let count = reader.number(), let length = reader.count(), let key = reader.bytes(length) else {
                    return nil
                }
                counts[Array(key)] = count
            }
            hours[Int64(bitPattern: hour)] = HourCounts(counts: counts, isIncomplete: packed & 1 == 1)
        }
        guard let filters = reader.bytes(start), reader.isAtEnd else { return nil }
        self.filters = Array(filters)
    }
}

private struct NumberWriter {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func put(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Reads what may be anything: no number is trusted before it is checked.
private struct NumberReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        let value = rest.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        rest = rest.dropFirst(8)
        return value
    }

    /// A number that counts something of at most a petabyte.
    mutating func count() -> Int? {
        guard let number = number(), number < 1 << 50 else { return nil }
        return Int(number)
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
