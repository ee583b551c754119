/// A random YAML text that is written twice: in the layout that the formatter gives, and in another valid one.
///
/// What the text says, its line breaks and comments follow from one seed, and the columns, spaces, empty lines and line
/// ends from another.
struct RandomText {
    private var style: Numbers
    /// Nil for the layout of the formatter.
    private var noise: Numbers?
    private let lineEnd: String
    private(set) var text = ""
    private var count = 0
    private var anchors: [String] = []
    /// Whether the last line ends with a comment; and what a block of text before the next line forbids.
    private var hasComment = false
    private var block = Block.none
    /// Whether a comment at the column of a list could belong to it as well as to the mapping around.
    private var endsInSequence = false

    private enum Block {
        case none
        /// Spaces on an empty line would belong to the text.
        case text
        /// Empty lines belong to the text.
        case keeping
    }

    /// SplitMix64.
    struct Numbers {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

        mutating func next(_ range: ClosedRange<Int>) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return range.lowerBound + Int((value ^ (value >> 31)) >> 33) % range.count
        }

        mutating func isOne(in many: Int) -> Bool { next(1...many) == 1 }
    }

    init(seed: UInt64, noise seedOfNoise: UInt64?) {
        style = Numbers(seed: seed)
        noise = seedOfNoise.map { Numbers(seed: $0) }
        lineEnd = noise == nil ? "\n" : ["\n", "\r\n", "\r"][Int((seedOfNoise ?? 0) % 3)]
        let column = pick(0, 0...3)
        if style.isOne(in: 3) { sequence(column, depth: 0) } else { mapping(column, depth: 0) }
        if block == .none { for _ in 0..<pick(0, 0...3) { endLine() } }
    }

    // MARK: Noise

    private mutating func pick(_ plain: Int, _ range: ClosedRange<Int>) -> Int {
        noise?.next(range) ?? plain
    }

    private mutating func spaces(_ plain: Int, _ range: ClosedRange<Int>) {
        text += String(repeating: " ", count: pick(plain, range))
    }

    private mutating func endLine() {
        text += String(repeating: " ", count: block == .none ? pick(0, 0...2) : 0) + lineEnd
    }

    private mutating func finishLine() {
        if style.isOne(in: 4) { comment(atEnd: true) }
        endLine()
    }

    // MARK: Between values

    private mutating func comment(atEnd isAtEnd: Bool) {
        count += 1
        if isAtEnd { spaces(2, 1...5) }
        text += "#" + (pick(1, 0...1) == 1 ? " " : "") + "é: c\(count)"
        hasComment = isAtEnd
    }

    /// Empty lines and comments before what begins a line at a column.
    private mutating func lead(_ column: Int) {
        endsInSequence = false
        if style.isOne(in: 5), block != .keeping, !text.isEmpty {
            for _ in 0..<pick(1, 1...3) {
                if block == .none, pick(0, 0...4) == 1 { text += "\t" }
                endLine()
            }
            hasComment = false
        }
        for _ in 0..<max(0, style.next(-3...2)) {
            // A comment below another one and at its column would be taken for its continuation.
            text += String(repeating: " ", count: hasComment ? column : pick(column, 0...column))
            comment(atEnd: false)
            block = .none
            endLine()
        }
        hasComment = false
        block = .none
        text += String(repeating: " ", count: column)
    }

    // MARK: Collections

    private mutating func mapping(_ column: Int, depth: Int, isInline: Bool = false) {
        for index in 0..<style.next(1...4) {
            if index > 0 || !isInline { lead(column) }
            key()
            spaces(0, 0...1)
            text += ":"
            value(column, depth: depth, isItem: false)
        }
        guard style.isOne(in: 5), depth > 0, !endsInSequence, !hasComment else { return }
        // What ends a mapping may be commented out.
        text += String(repeating: " ", count: column)
        comment(atEnd: false)
        block = .none
        endLine()
    }

    private mutating func sequence(_ column: Int, depth: Int, isInline: Bool = false) {
        for index in 0..<style.next(1...4) {
            if index > 0 || !isInline { lead(column) }
            text += "-"
            value(column, depth: depth, isItem: true)
        }
        endsInSequence = true
    }

    private mutating func key() {
        count += 1
        text += ["k\(count)", "'k: \(count)'", "\"é #\(count)\"", "k-\(count).x/y"][style.next(0...3)]
    }

    private mutating func value(_ column: Int, depth: Int, isItem: Bool) {
        let kind = style.next(0...(depth < 5 ? 14 : 9))
        switch kind {
        case 0: empty(column)
        case 1, 2, 3, 4:
            spaces(1, 1...3)
            if let name = anchors.last, style.isOne(in: 6) {
                text += "*\(name)"
            } else {
                if style.isOne(in: 6) { anchor() }
                scalar(column + 1, plainColumn: column + 2)
            }
            finishLine()
        case 5:
            finishLine()
            let inner = column + pick(2, 1...5)
            lead(inner)
            scalar(column + 1, plainColumn: column + 2)
            finishLine()
        case 6: literal(column)
        case 7, 8, 9:
            spaces(1, 1...3)
            flow(column + (isItem ? 2 : 0), depth: 0)
            finishLine()
        case 10 where isItem, 11 where isItem:
            let width = pick(1, 1...4)
            text += String(repeating: " ", count: width)
            let inner = column + 1 + width
            if kind == 10 {
                mapping(inner, depth: depth + 1, isInline: true)
            } else {
                sequence(inner, depth: depth + 1, isInline: true)
            }
        default:
            if style.isOne(in: 6) {
                spaces(1, 1...3)
                text += "&y"
            }
            finishLine()
            if kind.isMultiple(of: 2) {
                mapping(column + pick(2, 1...5), depth: depth + 1)
            } else {
                sequence(column + pick(2, isItem ? 1...4 : 0...4), depth: depth + 1)
            }
        }
    }

    private mutating func empty(_ column: Int) {
        if style.isOne(in: 3) {
            endLine()
            // Entries that are commented out.
            text += String(repeating: " ", count: column + pick(2, 1...5))
            comment(atEnd: false)
            endLine()
        } else {
            finishLine()
        }
    }

    // MARK: Texts

    private mutating func anchor() {
        count += 1
        text += "&a\(count)"
        anchors.append("a\(count)")
        spaces(1, 1...3)
    }

    private mutating func scalar(_ least: Int, plainColumn: Int, isFlow: Bool = false) {
        count += 1
        let quote = ["", "", "'", "\""][style.next(0...3)]
        text += quote + ["v\(count)", "v \(count)", "x:y\(count)", "v#\(count)"][style.next(0...3)]
        if !quote.isEmpty { text += ["", " # no comment", ": no key", " [x,y]"][style.next(0...3)] }
        if style.isOne(in: 6), !isFlow {
            let isJoined = quote == "\"" && style.isOne(in: 2)
            if isJoined { text += " \\" + lineEnd } else { endLine() }
            for _ in 0..<style.next(0...2) { endLine() }
            text += String(repeating: " ", count: pick(plainColumn, least...(least + 6))) + "more"
        }
        text += quote
    }

    private mutating func literal(_ column: Int) {
        spaces(1, 1...2)
        let chomping = ["", "-", "+"][style.next(0...2)]
        let increment: Int? = style.isOne(in: 4) ? style.next(1...4) : nil
        text += ["|", ">"][style.next(0...1)] + (increment.map(String.init) ?? "") + chomping
        finishLine()
        hasComment = false
        let indentation = column + (increment ?? pick(2, 1...5))
        block = .text
        for index in 0..<style.next(1...4) {
            let extra = index == 0 ? 0 : style.next(0...3)
            if index > 0, style.isOne(in: 4) { text += lineEnd }
            text +=
                String(repeating: " ", count: indentation + extra)
                + ["# text", "k: v", "- z", "é", "\tx  "][style.next(0...(index == 0 ? 3 : 4))] + lineEnd
        }
        if chomping == "+" {
            for _ in 0..<style.next(0...2) { text += lineEnd }
            block = .keeping
        }
    }

    // MARK: Brackets

    /// - Parameter base: the indentation of what closes it.
    private mutating func flow(_ base: Int, depth: Int) {
        let isMapping = style.isOne(in: 2)
        let hasLines = style.isOne(in: 4)
        text += isMapping ? "{" : "["
        let elements = style.next(0...3)
        for index in 0..<elements {
            if hasLines { flowLine(base + 2, comments: base + 2) } else if index == 0 { spaces(0, 0...2) }
            if isMapping {
                key()
                spaces(0, 0...1)
                text += ":"
                spaces(1, 1...2)
            }
            if depth < 3, style.isOne(in: 3) {
                flow(hasLines ? base + 2 : base, depth: depth + 1)
            } else {
                scalar(0, plainColumn: 0, isFlow: true)
            }
            spaces(0, 0...1)
            if index + 1 < elements {
                text += ","
                if !hasLines { spaces(1, 0...3) }
            }
        }
        if hasLines { flowLine(base, comments: base + 2) } else { spaces(0, 0...1) }
        text += isMapping ? "}" : "]"
    }

    private mutating func flowLine(_ column: Int, comments: Int) {
        finishLine()
        hasComment = false
        if style.isOne(in: 5) {
            text += String(repeating: " ", count: pick(comments, 0...2))
            comment(atEnd: false)
            endLine()
        }
        text += String(repeating: " ", count: pick(column, 0...8))
    }
}
