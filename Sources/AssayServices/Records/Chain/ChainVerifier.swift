package import AssayCore

/// Checks that lines form whole chains: finds lines that were removed, changed, inserted, moved or repeated.
///
/// Its memory is bounded, whatever the lines are.
package struct ChainVerifier: Sendable {
    /// Where a line is.
    package struct Place: Sendable, Hashable {
        @Exact package private(set) var file: String
        package let line: Int

        package init(_ file: String, _ line: Int) {
            self.file = file
            self.line = line
        }
    }

    /// Something that is wrong.
    package struct Finding: Sendable, Hashable {
        package enum Problem: String, Sendable, CaseIterable {
            case missing, changed, foreign, moved, repeated, disconnected, unreadable
            case unexpectedHead = "unexpected_head"
            case noChain = "no_chain"
        }

        package let problem: Problem
        /// Where it was noticed; nil for what concerns no line.
        package let place: Place?
        /// What is wrong, in words.
        @Exact package private(set) var words: String
        /// The numbers of lines that are missing.
        package var missing: ClosedRange<UInt64>?
    }

    /// One chain of those that were found.
    package struct Chain: Sendable, Hashable {
        /// What is before its first line.
        package enum Beginning: String, Sendable, CaseIterable {
            /// Nothing: it is line 1.
            case start
            /// Lines that the server removed by its keeping rule, as a later line says.
            case removed
            /// A line that is known from elsewhere.
            case given
            /// Lines that are missing.
            case missing
        }

        package let first: UInt64
        package fileprivate(set) var last: AuditChain.Head
        package let begin: Place
        package fileprivate(set) var beginning: Beginning
    }

    /// What is wrong, at most ``limit`` findings.
    package private(set) var findings: [Finding] = []
    /// How many findings are not listed.
    package private(set) var omitted = 0
    /// The chains, at most ``limit``.
    package private(set) var chains: [Chain] = []
    package private(set) var lines = 0
    package private(set) var torn = 0
    package private(set) var outside = 0

    /// What is listed of each kind.
    package static let limit = 1000
    private static let looseLimit = 2 << 20

    private struct Gap {
        var range: ClosedRange<UInt64>
        let place: Place
    }

    /// What came since the last line of a chain.
    private struct Loose {
        var bytes: [UInt8] = []
        /// Whether there is more than what a crash can leave, so that the bytes are not kept.
        var isTooMuch = false
        /// Whether one of the lines is longer than ``LineSplitter/lengthLimit``.
        var hasLongLine = false
        var first: Place?
        var count = 0
    }

    /// The heads that are known from elsewhere, and were not among the lines so far.
    private var awaited: [AuditChain.Head]
    private let given: [AuditChain.Head]
    /// The first of all lines, if it does not begin a chain.
    private var late: (line: AuditChain.Line, place: Place)?
    private var loose = Loose()
    private var gaps: [Gap] = []
    private var file = ""
    private var isFirstOfFile = false
    private var isUnended = false

    /// - Parameters:
    ///   - expected: heads that are known from elsewhere, and must be among the lines.
    ///   - given: heads that are known from elsewhere, one of which the first line may follow.
    package init(expecting expected: [AuditChain.Head] = [], after given: [AuditChain.Head] = []) {
        awaited = expected
        self.given = given
    }

    /// The lines that come next are of another file.
    package mutating func begin(_ file: String) {
        self.file = file
        isFirstOfFile = true
    }

    /// The file cannot be read on.
    package mutating func fail(_ words: String, line: Int) {
        report(.unreadable, Place(file, line), words)
    }

    /// The next line.
    package mutating func take(_ line: LineSplitter.Line) {
        lines += line.count
        let place = Place(file, line.number)
        isUnended = !line.isEnded
        guard !line.isTooLong, let chained = AuditChain.Line(line.bytes) else {
            setAside(line, place)
            return
        }
        defer { isFirstOfFile = false }
        if !awaited.isEmpty { awaited.removeAll { $0 == chained.head } }
        if let late, let removed = AuditChain.removed(line.bytes), late.line.follows(removed) {
            explainBeginning(.removed)
        }
        if chained.isStart, !starts.contains(chained.head) {
            beginChain(chained, line, place)
        } else {
            goOn(chained, place)
        }
    }

    /// All lines were taken.
    ///
    /// - Parameter name: what they are of, for a message.
    package mutating func finish(saying name: String = "the lines") {
        if chains.isEmpty {
            // A torn line alone does not show that a server wrote it.
            report(.noChain, nil, "there is no record of a server in \(name): no line has a place in a chain")
        } else if isUnended, loose.count == 1 {
            torn += 1
        }
        if loose.count > 0, chains.isEmpty || !(isUnended && loose.count == 1) { reportLoose() }
        for gap in gaps {
            let (first, last) = (gap.range.lowerBound, gap.range.upperBound)
            let words =
                first == last
                ? "line \(first) of the chain is missing" : "lines \(first) to \(last) of the chain are missing"
            report(.missing, gap.place, "\(words) before this line", missing: gap.range)
        }
        if let late { judge(late.line, late.place) }
        let last = chains.map(\.last.sequence).max() ?? 0
        for expected in awaited {
            report(
                .unexpectedHead, nil,
                last < expected.sequence
                    ? "the chain ends with line \(last), and line \(expected.sequence) is expected: the end was removed"
                    : "line \(expected.sequence) is not the expected one: the lines up to it were replaced")
        }
    }

    // MARK: -

    private var head: AuditChain.Head? { chains.last?.last }
    /// The first lines of the last chains, by which a second one of the same is known.
    private var starts: [AuditChain.Head] = []

    private mutating func beginChain(_ chained: AuditChain.Line, _ line: LineSplitter.Line, _ place: Place) {
        let after = (try? JSON.parse(line.bytes, limits: JSON.Limits(bytes: LineSplitter.lengthLimit)))?["after"]?
            .string
        if loose.count > 0 {
            if let after, after.isExactly(AuditChain.afterOtherLines), chains.isEmpty || isOnlyOtherLines {
                outside += loose.count
            } else {
                reportLoose()
            }
            loose = Loose()
        }
        if starts.count < ChainVerifier.limit { starts.append(chained.head) }
        open(chained, place, .start)
    }

    /// Whether what is aside begins where its file does.
    private var isOnlyOtherLines: Bool { loose.first?.line == 1 }

    private mutating func open(_ chained: AuditChain.Line, _ place: Place, _ beginning: Chain.Beginning) {
        guard chains.count < ChainVerifier.limit else {
            chains[chains.count - 1].last = chained.head
            return
        }
        chains.append(
            Chain(first: chained.head.sequence, last: chained.head, begin: place, beginning: beginning))
    }

    /// The lines before the first one are known not to be missing.
    private mutating func explainBeginning(_ beginning: Chain.Beginning) {
        late = nil
        for index in chains.indices.prefix(1) { chains[index].beginning = beginning }
    }

    /// Judges a first line whose predecessors no line of the chain explains.
    private mutating func judge(_ line: AuditChain.Line, _ place: Place) {
        if given.contains(where: { line.follows($0) }) { return explainBeginning(.given) }
        let last = line.head.sequence - 1
        guard last > 0 else {
            report(.changed, place, "line 1 of the chain was changed")
            return
        }
        report(
            .missing, place,
            "the beginning of the chain is missing: \(last == 1 ? "line 1" : "lines 1 to \(last)"), and no line says that the server removed them as --audit-keep says",
            missing: 1...last)
    }

    private mutating func goOn(_ chained: AuditChain.Line, _ place: Place) {
        guard let head else {
            // Whether what is before was removed by the keeping rule, a later line says.
            settleLoose(chained, place)
            open(chained, place, .missing)
            late = (chained, place)
            return
        }
        let sequence = chained.head.sequence
        let follows = chained.follows(head)
        if isFirstOfFile, sequence <= head.sequence, !gaps.contains(where: { $0.range.contains(sequence) }) {
            settleLoose(chained, place)
            report(
                .disconnected, place,
                "the file does not follow from the one before: it begins with line \(sequence), after line \(head.sequence)"
            )
            open(chained, place, .missing)
            return
        }
        if sequence <= head.sequence {
            takeOld(chained, head, place)
            return
        }
        settleLoose(chained, place)
        if sequence > head.sequence + 1 {
            note(Gap(range: head.sequence + 1...sequence - 1, place: place))
        } else if !follows {
            report(
                .changed, place,
                "line \(sequence) of the chain does not follow from the one before: one of the two was changed")
        }
        chains[chains.count - 1].last = chained.head
    }

    /// A line with a number that was there, or should have been.
    private mutating func takeOld(_ chained: AuditChain.Line, _ head: AuditChain.Head, _ place: Place) {
        let sequence = chained.head.sequence
        guard let index = gaps.firstIndex(where: { $0.range.contains(sequence) }) else {
            report(.repeated, place, "a second line \(sequence) of the chain, after line \(head.sequence)")
            return
        }
        report(.moved, place, "line \(sequence) of the chain is after line \(head.sequence)")
        let gap = gaps.remove(at: index)
        if sequence > gap.range.lowerBound {
            note(Gap(range: gap.range.lowerBound...sequence - 1, place: gap.place))
        }
        if sequence < gap.range.upperBound {
            note(Gap(range: sequence + 1...gap.range.upperBound, place: gap.place))
        }
    }

    private mutating func note(_ gap: Gap) {
        if gaps.count < ChainVerifier.limit { gaps.append(gap) } else { omitted += 1 }
    }

    // MARK: - What is in no chain

    private mutating func setAside(_ line: LineSplitter.Line, _ place: Place) {
        if loose.first == nil { loose.first = place }
        loose.count += line.count
        if line.isTooLong { loose.hasLongLine = true }
        if line.isTooLong || loose.bytes.count + line.bytes.count + line.count > ChainVerifier.looseLimit {
            loose.isTooMuch = true
            loose.bytes = []
        } else if !loose.isTooMuch {
            loose.bytes += line.bytes
            loose.bytes += repeatElement(ByteSearch.newline, count: line.count)
        }
    }

    /// Judges what is before a line of a chain, by what that line says of it.
    private mutating func settleLoose(_ chained: AuditChain.Line, _ place: Place) {
        defer { loose = Loose() }
        guard loose.count > 0 else {
            if chained.torn.isNil { return }
            report(.missing, place, "the torn line before line \(chained.head.sequence) of the chain is missing")
            return
        }
        if let torn = chained.torn, !loose.isTooMuch, AuditChain.digest(loose.bytes[...], []).isExactly(torn) {
            self.torn += 1
        } else {
            reportLoose(before: chained)
        }
    }

    /// - Parameter chained: the line that follows; nil for none, and for one that begins a chain.
    private mutating func reportLoose(before chained: AuditChain.Line? = nil) {
        var words = loose.count == 1 ? "a line is in no chain" : "\(loose.count) lines are in no chain"
        if loose.hasLongLine {
            words +=
                loose.count == 1
                ? ", and longer than any line of a server" : ", and one is longer than any line of a server"
        }
        if let chained, !chained.torn.isNil {
            words += "; line \(chained.head.sequence) of the chain says that other bytes were torn here"
        }
        report(.foreign, loose.first, words)
    }

    private mutating func report(
        _ problem: Finding.Problem, _ place: Place?, _ words: String, missing: ClosedRange<UInt64>? = nil
    ) {
        guard findings.count < ChainVerifier.limit else {
            omitted += 1
            return
        }
        findings.append(Finding(problem: problem, place: place, words: words, missing: missing))
    }
}
