internal import AssayCore

/// Cuts bytes into lines; its memory is bounded, whatever the bytes are.
package struct LineSplitter {
    /// A line, without its end.
    package struct Line {
        /// The bytes; empty for a line that is too long.
        package let bytes: ArraySlice<UInt8>
        /// The number in the file, from 1.
        package let number: Int
        /// How many lines it stands for: empty ones that follow each other come as one.
        package let count: Int
        /// Whether it is longer than ``lengthLimit``.
        package let isTooLong: Bool
        /// Whether the line has its end; only the last one may lack it.
        package let isEnded: Bool
    }

    /// The longest line.
    ///
    /// No line that the server writes comes near it.
    package static let lengthLimit = 1 << 20

    private var pending: [UInt8] = []
    private var isSkipping = false
    private var number = 1

    package init() {}

    /// Adds bytes, and passes each complete line on.
    package mutating func add(_ bytes: [UInt8], _ body: (Line) throws -> Void) rethrows {
        var start = 0
        while let end = LineSplitter.newline(in: bytes, from: start) {
            if end == start, pending.isEmpty, !isSkipping {
                let blank = ByteSearch.newlines(in: bytes, from: start, to: bytes.count)
                try pass(bytes[start..<start], count: blank, body)
                start += blank
                continue
            }
            if isSkipping || pending.count + end - start > LineSplitter.lengthLimit {
                try pass([], isTooLong: true, body)
            } else if pending.isEmpty {
                try pass(bytes[start..<end], body)
            } else {
                pending += bytes[start..<end]
                try pass(pending[...], body)
            }
            if !pending.isEmpty { pending.removeAll(keepingCapacity: true) }
            isSkipping = false
            start = end + 1
        }
        if isSkipping || pending.count + bytes.count - start > LineSplitter.lengthLimit {
            isSkipping = true
            pending.removeAll()
        } else {
            pending += bytes[start...]
        }
    }

    private mutating func pass(
        _ bytes: ArraySlice<UInt8>, count: Int = 1, isTooLong: Bool = false, _ body: (Line) throws -> Void
    ) rethrows {
        try body(Line(bytes: bytes, number: number, count: count, isTooLong: isTooLong, isEnded: true))
        number += count
    }

    /// Passes the last line on, if it has no end.
    package mutating func finish(_ body: (Line) throws -> Void) rethrows {
        guard isSkipping || !pending.isEmpty else { return }
        try body(Line(bytes: pending[...], number: number, count: 1, isTooLong: isSkipping, isEnded: false))
        pending = []
        isSkipping = false
        number += 1
    }

    /// The index of the next line end; nil when there is none.
    package static func newline(in bytes: [UInt8], from start: Int) -> Int? {
        ByteSearch.first(ByteSearch.newline, in: bytes, from: start, to: bytes.count)
    }
}
