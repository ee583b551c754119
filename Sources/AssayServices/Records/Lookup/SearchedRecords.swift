package import AssayCore

/// What a look-up searched: how many decisions, and of which time.
///
/// It tells an operator who finds nothing whether the files are those that were meant.
package struct SearchedRecords: Sendable, Equatable {
    /// How many files could be opened.
    package var files = 0
    /// How many decisions the files have, those in sums too.
    package private(set) var decisions: UInt64 = 0
    /// Whether there are more: an index counts only so many different ones of an hour.
    package private(set) var isLeast = false
    private var times: ClosedRange<Int64>?

    /// The times of the earliest and the latest record; nil when there is none.
    package var span: (first: Instant, last: Instant)? {
        times.map { (Instant(milliseconds: $0.lowerBound), Instant(milliseconds: $0.upperBound)) }
    }

    /// Adds a line.
    mutating func add(_ fields: RecordFields) {
        if let time = fields.time { extend(time...time) }
        if fields[.decision] != nil {
            decisions &+= 1
        } else {
            for (_, count) in HourCounts.keys(fields) { decisions &+= count }
        }
    }

    /// Adds a file by its index.
    mutating func add(_ index: AuditIndex) {
        files += 1
        for block in index.blocks where block.first <= block.last { extend(block.first...block.last) }
        for counts in index.hours.values {
            for count in counts.counts.values { decisions &+= count }
            isLeast = isLeast || counts.isIncomplete
        }
    }

    private mutating func extend(_ added: ClosedRange<Int64>) {
        times = times.map { min($0.lowerBound, added.lowerBound)...max($0.upperBound, added.upperBound) } ?? added
    }

    /// The same for people: `the 2 files have 1234 decisions, from … to …`.
    package var words: String {
        let files = files == 1 ? "the file has" : "the \(self.files) files have"
        let count = decisions == 1 && !isLeast ? "1 decision" : "\(decisions) decisions"
        guard let span else { return "\(files) no records" }
        return "\(files) \(isLeast ? "at least " : "")\(count), and records from \(span.first.textWithMilliseconds) to "
            + span.last.textWithMilliseconds
    }
}
