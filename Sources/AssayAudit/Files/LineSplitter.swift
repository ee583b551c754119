#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Cuts bytes into lines; its memory is bounded, whatever the bytes are.
package struct LineSplitter {
    /// A line, without its end.
    package struct Line {
        /// The bytes; empty for a line that is too long.
        package let bytes: ArraySlice<UInt8>
        /// The number in the file, from 1.
        package let number: Int
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
            if isSkipping || pending.count + end - start > LineSplitter.lengthLimit {
                try body(Line(bytes: [], number: number, isTooLong: true, isEnded: true))
            } else if pending.isEmpty {
                try body(Line(bytes: bytes[start..<end], number: number, isTooLong: false, isEnded: true))
            } else {
                pending += bytes[start..<end]
                try body(Line(bytes: pending[...], number: number, isTooLong: false, isEnded: true))
            }
            pending.removeAll(keepingCapacity: true)
            isSkipping = false
            number += 1
            start = end + 1
        }
        if isSkipping || pending.count + bytes.count - start > LineSplitter.lengthLimit {
            isSkipping = true
            pending.removeAll()
        } else {
            pending += bytes[start...]
        }
    }

    /// Passes the last line on, if it has no end.
    package mutating func finish(_ body: (Line) throws -> Void) rethrows {
        guard isSkipping || !pending.isEmpty else { return }
        try body(Line(bytes: pending[...], number: number, isTooLong: isSkipping, isEnded: false))
        pending = []
        isSkipping = false
        number += 1
    }

    /// The line that comes next.
    var nextNumber: Int { number }

    /// The index of the next line end; nil when there is none.
    package static func newline(in bytes: [UInt8], from start: Int) -> Int? {
        guard start >= 0, start < bytes.count else { return nil }
        return bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress,
                let found = memchr(base + start, Int32(UInt8(ascii: "\n")), buffer.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
