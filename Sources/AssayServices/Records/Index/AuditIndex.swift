internal import AssayCore

/// What look-ups need to know of the blocks of an audit file; kept beside it as `FILE.idx`.
///
/// It can be removed at any time. It is only a hint: look-ups read the lines themselves, and check the sum of each block.
struct AuditIndex: Sendable {
    /// Lines that are read together.
    struct Block: Sendable, Equatable {
        /// Where it is in the file, and how long it is there.
        let offset: Int
        let length: Int
        /// The times of its earliest and its latest line.
        let first: Int64
        let last: Int64
        /// The check sum of its lines.
        let sum: UInt32
        /// Where its filter is.
        let filter: Range<Int>
    }

    /// Which state of which file it is about.
    struct Stamp: Sendable, Equatable {
        var device: UInt64
        var inode: UInt64
        /// How much of the file it is about.
        var covered: Int
        /// The size and the time of the file when it was made.
        var size: Int
        var modified: Int64
        /// The check sums of the first bytes of the file and of the last ones that it is about.
        var firstSum: UInt32
        var lastSum: UInt32
    }

    var stamp: Stamp
    var blocks: [Block] = []
    var filters: [UInt8] = []
    var hours: [Int64: HourCounts] = [:]

    private static let edge = 64

    /// An index of nothing yet.
    init(of status: FileStatus) {
        stamp = Stamp(
            device: status.device, inode: status.inode, covered: 0, size: status.size, modified: status.modified,
            firstSum: 0, lastSum: 0)
    }

    /// The filter of a block.
    func filter(of block: Block) -> ArraySlice<UInt8> { filters[block.filter] }

    /// Adds a block.
    mutating func add(_ sketch: BlockSketch, offset: Int, length: Int) {
        stamp.covered = offset + length
        for (hour, counts) in sketch.hours {
            for (key, count) in counts.counts { hours[hour, default: HourCounts()].add(key, count) }
            if counts.isIncomplete { hours[hour, default: HourCounts()].abandon() }
        }
        guard let times = sketch.times else { return }
        let bits = sketch.filter.bytes
        let start = filters.count
        filters += bits
        blocks.append(
            Block(
                offset: offset, length: length, first: times.lowerBound, last: times.upperBound, sum: sketch.sum.value,
                filter: start..<start + bits.count))
    }

    /// Notes which bytes it is about.
    mutating func seal(_ file: FileBytes, _ status: FileStatus) throws(AuditFileError) {
        (stamp.size, stamp.modified) = (status.size, status.modified)
        (stamp.firstSum, stamp.lastSum) = try AuditIndex.sums(file, covered: stamp.covered)
    }

    /// Whether it is about the beginning of a file as it is now.
    func fits(_ file: FileBytes, _ status: FileStatus) throws(AuditFileError) -> Bool {
        guard stamp.device == status.device, stamp.inode == status.inode, stamp.covered <= status.size,
            stamp.size <= status.size, stamp.size < status.size || stamp.modified == status.modified,
            stamp.covered > 0
        else { return false }
        return try AuditIndex.sums(file, covered: stamp.covered) == (stamp.firstSum, stamp.lastSum)
    }

    private static func sums(_ file: FileBytes, covered: Int) throws(AuditFileError) -> (UInt32, UInt32) {
        let first = try file.read(at: 0, count: min(edge, covered))
        let start = max(0, covered - edge)
        let last = try file.read(at: start, count: covered - start)
        return (CheckSum.of(first[...]), CheckSum.of(last[...]))
    }
}

/// What is known of a block while its lines are read.
struct BlockSketch {
    var filter = BlockFilter()
    var times: ClosedRange<Int64>?
    var sum = CheckSum()
    var hours: [Int64: HourCounts] = [:]

    /// Adds a line, without its end.
    mutating func add(_ line: ArraySlice<UInt8>) {
        sum.add(line)
        guard let fields = RecordFields(line), let time = fields.time else { return }
        times = times.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
        let keys = HourCounts.keys(fields)
        if !keys.isEmpty {
            let hour = HourCounts.hour(time)
            for (key, count) in keys { hours[hour, default: HourCounts()].add(key, count) }
        }
        for (field, text) in fields.terms { filter.add(BlockFilter.term(field, text)) }
    }
}

extension RecordFields {
    /// What the line can be found by.
    var terms: [(Field, ArraySlice<UInt8>)] {
        var terms: [(Field, ArraySlice<UInt8>)] = []
        for field in Field.allCases where ![.reason, .unenforced, .resource].contains(field) {
            if let text = self[field] { terms.append((field, text)) }
        }
        // A reason is looked for whether it was enforced or not, and an app by both of its places.
        for field in [Field.reason, .unenforced] {
            if let text = self[field] { terms.append((.reason, text)) }
        }
        if let app = self[.resource].flatMap({ RecordFields.app(in: $0) }) { terms.append((.app, app)) }
        for name in wouldRefuseNames { terms.append((.rule, name)) }
        // The empty text stands for any event.
        if self[.event] != nil { terms.append((.event, [])) }
        return terms
    }
}

extension HourCounts {
    mutating func abandon() { self = HourCounts(counts: counts, isIncomplete: true) }
}
