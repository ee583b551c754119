package import AssayCore
package import AssayKit

/// Look-ups in audit files, with their indexes or without.
package struct AuditLookup {
    /// Whether indexes are used.
    package enum Indexing: Sendable {
        /// Indexes are read, made where they are missing, and kept beside the files.
        case kept
        /// Indexes are read, and what is missing is made in memory.
        case read
        /// All lines are read.
        case none
    }

    /// What a look-up may take.
    package struct Budget: Sendable {
        /// How many bytes of lines are read.
        package var bytes = Int.max
        /// How many bytes that no index is about are read, before.
        package var unindexed = Int.max
        /// When it must end; nil for never.
        package var isOver: (@Sendable () -> Bool)?

        package init() {}
    }

    /// What was found.
    package struct Found {
        /// The lines, the newest first.
        package fileprivate(set) var lines: [[UInt8]] = []
        /// The token of the next page; nil at the end.
        package fileprivate(set) var next: String?
        /// What people should know: files that were read as a whole, cannot be read, or have no record.
        package var notes: [String] = []
        /// What was searched.
        package fileprivate(set) var extent = SearchedRecords()
        /// Whether a file could not be read to its end, so that records may be missing.
        package var isIncomplete = false

        /// Notes that a file could not be read to its end.
        fileprivate mutating func miss(_ words: String) {
            notes.append(words)
            isIncomplete = true
        }
    }

    let paths: [String]
    /// What to say of folders without audit files.
    private let folderNotes: [String]
    private let indexing: Indexing
    private let budget: Budget

    /// - Throws: ``AuditFileError`` when there is no such file.
    package init(_ paths: [String], indexing: Indexing = .kept, budget: Budget = Budget()) throws(AuditFileError) {
        var empty: [String] = []
        self.paths = try AuditPaths.files(paths, empty: &empty)
        folderNotes = empty.map { "no audit file in \($0)" }
        self.indexing = indexing
        self.budget = budget
    }

    /// The record of a decision.
    package func find(_ decision: String, of projects: [ExactText] = []) throws -> Found {
        var query = DecisionQuery(limit: 1)
        query.projects = projects
        // The identifier has the time of its record, which leaves a few blocks. Records of other programs may differ.
        if !isScanning, let time = DecisionMatcher.time(of: decision) {
            (query.since, query.until) = (time, time + .milliseconds(1))
            let found = try list(try DecisionMatcher(query, decision: decision), limit: 1)
            if !found.lines.isEmpty { return found }
            (query.since, query.until) = (nil, nil)
        }
        return try list(try DecisionMatcher(query, decision: decision), limit: 1)
    }

    /// The records that match, the newest first.
    package func list(_ query: DecisionQuery) throws -> Found {
        try list(try DecisionMatcher(query), limit: max(1, query.limit))
    }

    /// The records of changes of the service itself that match, the newest first.
    package func events(_ query: EventQuery) throws -> Found {
        try list(EventMatcher(query), limit: max(1, query.limit))
    }

    private func list(_ matcher: some LineMatcher, limit: Int) throws -> Found {
        if isScanning { return scan(matcher, limit: limit) }
        do {
            return try search(matcher, limit: limit)
        } catch let error as StaleIndex {
            try removeIndexes(after: error)
            return scan(matcher, limit: limit)
        }
    }

    /// Somebody wrote to the middle of a file: the indexes go, and are made again.
    ///
    /// - Throws: the error, where not all lines may be read instead.
    private func removeIndexes(after error: StaleIndex) throws {
        for path in paths { Folder.remove("\(path).idx") }
        if budget.isOver != nil { throw error }
    }

    // MARK: - With indexes

    private struct Candidate {
        let file: Int
        let block: AuditIndex.Block
    }

    private func search(_ matcher: some LineMatcher, limit: Int) throws -> Found {
        var found = Found()
        found.notes = folderNotes
        var candidates: [Candidate] = []
        var files: [IndexedFile?] = []
        for path in paths {
            if budget.isOver?() ?? false { throw BudgetSpent() }
            let file = try open(path, &found, noting: matcher.findsDecisions).get()
            files.append(file)
            guard let file else { continue }
            found.extent.add(file.index)
            for block in file.index.blocks where matcher.mayMatch(block, file.index.filter(of: block)) {
                candidates.append(Candidate(file: files.count - 1, block: block))
            }
            file.rest(keepingOpen: files.count <= AuditLookup.openLimit)
        }
        candidates.sort { $0.block.last > $1.block.last }
        var results = Results(limit: limit)
        var bytes = 0
        for candidate in candidates {
            if let least = results.least, candidate.block.last < least.time { break }
            if bytes >= budget.bytes || budget.isOver?() ?? false {
                // What is not read yet may have lines up to here.
                results.keep(after: candidate.block.last)
                found.next = DecisionMatcher.Place(time: candidate.block.last, sequence: .max).token
                break
            }
            guard let file = files[candidate.file] else { continue }
            bytes += try file.lines(of: candidate.block, limit: budget.bytes) { line in
                if let place = RecordFields(line).flatMap({ matcher.place(of: $0) }) { results.add(line, at: place) }
            }
            results.settle()
        }
        results.finish(into: &found)
        return found
    }

    /// Opens a file with its index; nil when it cannot be read.
    ///
    /// - Parameter noting: whether to say of a file that it has no decisions.
    private func open(_ path: String, _ found: inout Found, noting: Bool = true) -> Result<IndexedFile?, any Error> {
        do {
            let keeping: IndexedFile.Keeping = if case .kept = indexing { .save } else { .memory }
            let file = try IndexedFile(path, keeping: keeping, limit: budget.unindexed)
            if file.bytesRead > AuditLookup.worthANote {
                found.notes.append("\(path): \(file.bytesRead >> 20) MiB without an index were read and indexed")
            }
            if let failure = file.savingFailure { found.notes.append("\(path): its index is not kept: \(failure)") }
            if let damage = file.damage { found.miss(AuditLookup.damaged(damage)) }
            if noting, !file.hasDecisions { found.notes.append(AuditLookup.noRecord(path)) }
            return .success(file)
        } catch let error as AuditFileError {
            found.miss(error.message)
            return .success(nil)
        } catch {
            return .failure(error)
        }
    }

    private static let worthANote = 4 << 20
    /// How many files are kept open during a look-up.
    private static let openLimit = 200

    // MARK: - Without

    private var scanNote: String {
        "read without an index: \(paths.count == 1 ? "1 file" : "\(paths.count) files")"
    }

    private func scan(_ matcher: some LineMatcher, limit: Int) -> Found {
        var found = Found()
        found.notes = [scanNote] + folderNotes
        var results = Results(limit: limit)
        scan(into: &found, noting: matcher.findsDecisions) { fields in
            if let place = matcher.place(of: fields) { results.add(fields.bytes, at: place) }
        }
        results.finish(into: &found)
        return found
    }

    /// Passes on the fields of each line of all files.
    private func scan(into found: inout Found, noting: Bool = true, _ body: (RecordFields) -> Void) {
        for path in paths {
            let reader: AuditReader
            do throws(AuditFileError) {
                reader = try AuditReader(path)
            } catch {
                found.miss(error.message)
                continue
            }
            let before = found.extent.decisions
            found.extent.files += 1
            do {
                try reader.lines { line in
                    guard let fields = RecordFields(line.bytes) else { return }
                    found.extent.add(fields)
                    body(fields)
                }
            } catch {
                found.miss(AuditLookup.damaged("\(error)"))
            }
            if noting, found.extent.decisions == before { found.notes.append(AuditLookup.noRecord(path)) }
        }
    }

    /// What to say of a file that could not be read to its end.
    private static func damaged(_ words: String) -> String { "\(words); what comes after that is missing here" }

    /// What to say of a file without a single record.
    package static func noRecord(_ path: String) -> String { "\(path) has no record of a decision" }

    // MARK: - Counts

    /// What was counted.
    package struct Counts {
        /// The most frequent first; an empty text is that of decisions without the field.
        package fileprivate(set) var counts: [(text: String, count: UInt64)] = []
        /// As in ``Found``.
        package fileprivate(set) var notes: [String] = []
        /// What was searched.
        package fileprivate(set) var extent = SearchedRecords()
        /// Whether a file could not be read to its end, so that decisions may be missing.
        package fileprivate(set) var isIncomplete = false

        fileprivate init(_ totals: Totals, _ found: Found) {
            (counts, notes, extent, isIncomplete) = (totals.sorted, found.notes, found.extent, found.isIncomplete)
        }
    }

    /// How many decisions have each text of a field, from an instant until another one.
    ///
    /// - Parameter service: only decisions about a use of a token at this service; nil for all.
    package func count(
        by field: CountedField, since: Instant? = nil, until: Instant? = nil, service: String? = nil
    ) throws -> Counts {
        let service = service.map { DecisionMatcher.escaped($0) }
        do {
            return try count(by: field, since, until, service, isScanning: isScanning)
        } catch let error as StaleIndex {
            try removeIndexes(after: error)
            return try count(by: field, since, until, service, isScanning: true)
        }
    }

    private var isScanning: Bool { if case .none = indexing { true } else { false } }

    private func count(
        by field: CountedField, _ since: Instant?, _ until: Instant?, _ service: [UInt8]?, isScanning: Bool
    ) throws -> Counts {
        var query = DecisionQuery()
        (query.since, query.until) = (since, until)
        let matcher = try DecisionMatcher(query)
        var totals = Totals(field: field, service: service)
        var found = Found()
        found.notes = (isScanning ? [scanNote] : []) + folderNotes
        if isScanning {
            scan(into: &found) { fields in totals.add(fields) { matcher.since <= $0 && $0 <= matcher.last } }
            return Counts(totals, found)
        }
        for path in paths {
            guard let file = try open(path, &found).get() else { continue }
            found.extent.add(file.index)
            var partial: Set<Int64> = []
            for (hour, counts) in file.index.hours {
                let (first, last) = (hour * 3_600_000, hour * 3_600_000 + 3_599_999)
                guard last >= matcher.since, first <= matcher.last else { continue }
                if first >= matcher.since, last <= matcher.last, !counts.isIncomplete {
                    for (key, count) in counts.counts { totals.add(key, count) }
                } else {
                    partial.insert(hour)
                }
            }
            guard !partial.isEmpty else { continue }
            for block in file.index.blocks
            where partial.contains(where: { block.last >= $0 * 3_600_000 && block.first < ($0 + 1) * 3_600_000 }) {
                _ = try file.lines(of: block, limit: .max) { line in
                    guard let fields = RecordFields(line) else { return }
                    totals.add(fields) { time in
                        matcher.since <= time && time <= matcher.last && partial.contains(HourCounts.hour(time))
                    }
                }
            }
        }
        return Counts(totals, found)
    }
}

/// The best of some lines: those with the greatest places.
private struct Results {
    private var entries: [(place: DecisionMatcher.Place, line: [UInt8])] = []
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The place that lines must be beyond to change the list, once it is full, and it is known that there is another page.
    private(set) var least: DecisionMatcher.Place?

    private var trimmed: ArraySlice<(place: DecisionMatcher.Place, line: [UInt8])> {
        entries.sorted { $0.place > $1.place }.prefix(limit)
    }

    mutating func add(_ line: ArraySlice<UInt8>, at place: DecisionMatcher.Place) {
        if let least, place < least { return }
        entries.append((place, Array(line)))
        if entries.count > 2 * limit + 64 { settle() }
    }

    /// Drops what is beyond the list; one more than the limit shows that there is another page.
    mutating func settle() {
        guard entries.count > limit else { return }
        entries = Array(entries.sorted { $0.place > $1.place }.prefix(limit + 1))
        least = entries.last?.place
    }

    mutating func keep(after time: Int64) { entries.removeAll { $0.place.time <= time } }

    func finish(into found: inout AuditLookup.Found) {
        let page = trimmed
        found.lines = page.map(\.line)
        if entries.count > page.count, let last = page.last { found.next = last.place.token }
    }
}

/// Counts by the text of one field.
private struct Totals {
    let field: CountedField
    private let service: [UInt8]?
    private var counts: [[UInt8]: UInt64] = [:]
    private var others: UInt64 = 0

    private static let limit = 100_000

    /// - Parameter service: only what is counted for this service; nil for all.
    init(field: CountedField, service: [UInt8]?) {
        self.field = field
        self.service = service
    }

    mutating func add(_ key: [UInt8], _ count: UInt64) {
        if let service, HourCounts.text(of: .service, in: key) != service { return }
        for text in HourCounts.texts(of: field, in: key) {
            if counts[text] != nil || counts.count < Totals.limit {
                counts[text, default: 0] &+= count
            } else {
                others &+= count
            }
        }
    }

    mutating func add(_ fields: RecordFields, _ isMeant: (Int64) -> Bool) {
        guard let time = fields.time, isMeant(time) else { return }
        for (key, count) in HourCounts.keys(fields) { add(key, count) }
    }

    /// The most frequent first; an empty text is that of decisions without the field.
    var sorted: [(text: String, count: UInt64)] {
        var sorted = counts.map { (text: String(decoding: $0.key, as: UTF8.self), count: $0.value) }
        sorted.sort { $0.count == $1.count ? $0.text.precedesExactly($1.text) : $0.count > $1.count }
        if others > 0 { sorted.append((text: "(others)", count: others)) }
        return sorted
    }
}
