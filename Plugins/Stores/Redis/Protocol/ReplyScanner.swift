internal import AssayCore

/// Checks the sizes that a server announces, before the parser acts on them.
///
/// hiredis 0.14 believes them: it would keep an endless line, wait for a string of an exabyte, and multiply the length
/// of an array without looking. So this counts along: lines, strings, arrays, their depth, and the whole of one answer.
struct ReplyScanner {
    struct Limits: Sendable {
        /// Bytes of a status or an error.
        var line = 16_384
        /// Bytes of a string: the largest value, and what is stored with it.
        var string = (1 << 20) + 4096
        /// Elements of an array, and arrays within arrays.
        var elements = 20_000
        var depth = 5
        /// Elements and bytes of a whole answer.
        var allElements = 200_000
        var bytes = 8 << 20
    }

    /// Why an answer is not accepted.
    struct Violation: Error {
        @Exact private(set) var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private let limits: Limits
    /// The type of the line that is being read; nil at its first byte.
    private var kind: UInt8?
    /// The digits of a length or number.
    private var digits: [UInt8] = []
    private var lineCount = 0
    private var isAfterReturn = false
    /// Bytes of a string that are still to come, with its line end.
    private var payload = 0
    /// The elements that open arrays still lack.
    private var open: [Int] = []
    private var elements = 0
    private var bytes = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Counts along the next bytes of the connection.
    mutating func scan(_ chunk: UnsafeRawBufferPointer) throws(Violation) {
        var index = 0
        while index < chunk.count {
            if payload > 0 {
                let count = min(payload, chunk.count - index)
                payload -= count
                index += count
                try add(count)
                if payload == 0 { endItem() }
            } else {
                try scan(chunk[index])
                index += 1
            }
        }
    }

    private mutating func add(_ count: Int) throws(Violation) {
        bytes += count
        guard bytes <= limits.bytes else { throw Violation("an answer of more than \(limits.bytes) bytes") }
    }

    private mutating func scan(_ byte: UInt8) throws(Violation) {
        try add(1)
        guard let kind else {
            guard "+-:$*".utf8.contains(byte) else {
                throw Violation("a byte 0x\(Hex.encode([byte])) where an answer begins")
            }
            self.kind = byte
            (digits, lineCount, isAfterReturn) = ([], 0, false)
            return
        }
        lineCount += 1
        let isText = kind == UInt8(ascii: "+") || kind == UInt8(ascii: "-")
        guard lineCount <= (isText ? limits.line : 24) else { throw Violation("a line that does not end") }
        if isAfterReturn, byte == UInt8(ascii: "\n") {
            self.kind = nil
            try endLine(kind)
            return
        }
        isAfterReturn = byte == UInt8(ascii: "\r")
        if !isText, !isAfterReturn { digits.append(byte) }
    }

    private mutating func endLine(_ kind: UInt8) throws(Violation) {
        guard kind != UInt8(ascii: "+"), kind != UInt8(ascii: "-") else { return endItem() }
        guard let number = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw Violation("a length that is no number")
        }
        switch kind {
        case UInt8(ascii: "$"):
            guard number >= -1, number <= limits.string else { throw Violation("a string of \(number) bytes") }
            if number < 0 { endItem() } else { payload = Int(number) + 2 }
        case UInt8(ascii: "*"):
            guard number >= -1, number <= limits.elements else { throw Violation("an array of \(number) elements") }
            guard number > 0 else { return endItem() }
            elements += Int(number)
            guard elements <= limits.allElements else { throw Violation("an answer of \(elements) elements") }
            guard open.count < limits.depth else { throw Violation("arrays in arrays, more than \(limits.depth) deep") }
            open.append(Int(number))
        default:
            endItem()
        }
    }

    private mutating func endItem() {
        while let missing = open.popLast() {
            guard missing <= 1 else {
                open.append(missing - 1)
                return
            }
        }
        (elements, bytes) = (0, 0)
    }
}
