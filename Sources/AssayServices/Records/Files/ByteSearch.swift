#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Searches in bytes with the system's functions: audit files have many gigabytes.
enum ByteSearch {
    static let newline = UInt8(ascii: "\n")
    private static let newlines = [UInt8](repeating: newline, count: 4096)

    /// The index of the first byte of a value in a range; nil when there is none.
    static func first(_ byte: UInt8, in bytes: [UInt8], from start: Int, to end: Int) -> Int? {
        bytes.withUnsafeBytes { first(byte, in: $0, from: start, to: min(end, $0.count)) }
    }

    /// The same in memory.
    static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start >= 0, start < end, end <= bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, Int32(byte), end - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// How many line ends follow each other from an index on.
    static func newlines(in bytes: [UInt8], from start: Int, to end: Int) -> Int {
        bytes.withUnsafeBytes { bytes in
            newlines.withUnsafeBytes { newlines in
                guard start >= 0, end <= bytes.count, let base = bytes.baseAddress, let other = newlines.baseAddress
                else { return 0 }
                var index = start
                // Thousands at a time: an empty line must cost next to nothing.
                while end - index >= newlines.count, memcmp(base + index, other, newlines.count) == 0 {
                    index += newlines.count
                }
                while index < end, bytes[index] == newline { index += 1 }
                return index - start
            }
        }
    }

    /// Whether bytes are those of a word.
    static func isWord(_ word: StaticString, in bytes: UnsafeRawBufferPointer, at range: Range<Int>) -> Bool {
        guard range.count == word.utf8CodeUnitCount, range.lowerBound >= 0, range.upperBound <= bytes.count,
            let base = bytes.baseAddress
        else { return false }
        return memcmp(base + range.lowerBound, word.utf8Start, range.count) == 0
    }

    /// Passes on each line before an index, without its end; not the empty ones, and not those that are too long.
    static func lines(
        in bytes: [UInt8], to end: Int, _ body: (ArraySlice<UInt8>) throws -> Void
    ) rethrows {
        var start = 0
        while start < end {
            let stop = first(newline, in: bytes, from: start, to: end) ?? end
            if stop > start {
                if stop - start <= LineSplitter.lengthLimit { try body(bytes[start..<stop]) }
                start = stop + 1
            } else {
                start += newlines(in: bytes, from: start, to: end)
            }
        }
    }
}

extension ArraySlice<UInt8> {
    /// Passes on each piece between bytes of a value, the empty ones too.
    func pieces(between byte: UInt8, _ body: (ArraySlice<UInt8>) throws -> Void) rethrows {
        var start = startIndex
        func next() -> Int? {
            withUnsafeBytes { ByteSearch.first(byte, in: $0, from: start - startIndex, to: $0.count) }
        }
        while let found = next() {
            try body(self[start..<startIndex + found])
            start = startIndex + found + 1
        }
        try body(self[start...])
    }
}
