#if AppAttest || AndroidKey
internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads a file, or standard input, line by line; lines and files have at most 1 MiB.
final class LineReader {
    /// A line that is not blank, without its end.
    struct Line {
        /// Its place among all lines, from 1.
        let number: Int
        /// Nil when it is longer than a line may be.
        let bytes: [UInt8]?
    }

    private static let limit = 1 << 20

    private let name: String
    private let descriptor: Int32
    /// What was read and not yet returned.
    private var rest: ArraySlice<UInt8> = []
    private var number = 0
    private var isAtEnd = false

    /// - Parameter name: a file's name; `-` is standard input.
    init(_ name: String) throws(FileError) {
        self.name = name == "-" ? "standard input" : name
        do throws(RegularFile.Failure) {
            descriptor = name == "-" ? STDIN_FILENO : try RegularFile.open(name)
        } catch {
            throw FileError(error.description)
        }
    }

    deinit {
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// The next line; nil when there is none.
    func next() throws(FileError) -> Line? {
        while true {
            if rest.isEmpty, !isAtEnd { try fill() }
            if rest.isEmpty, isAtEnd { return nil }
            let line = try line()
            if line.bytes?.allSatisfy({ " \t\r".utf8.contains($0) }) != true { return line }
        }
    }

    /// All bytes of a file.
    static func contents(of name: String) throws(FileError) -> [UInt8] {
        let reader = try LineReader(name)
        var bytes: [UInt8] = []
        while !reader.isAtEnd {
            try reader.fill()
            bytes += reader.rest
            guard bytes.count <= limit else { throw FileError("\(reader.name) has more than 1 MiB") }
        }
        return bytes
    }

    /// Reads to the end of the line, and keeps no more of it than a line may have.
    private func line() throws(FileError) -> Line {
        number += 1
        var bytes: [UInt8]? = []
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let piece = rest[..<(end ?? rest.endIndex)]
            bytes = bytes.flatMap { $0.count + piece.count <= Self.limit ? $0 + piece : nil }
            rest = end.map { rest[$0...].dropFirst() } ?? []
            if end != nil || isAtEnd { return Line(number: number, bytes: bytes) }
            try fill()
        }
    }

    private func fill() throws(FileError) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var count = read(descriptor, &chunk, chunk.count)
        while count < 0, errno == EINTR { count = read(descriptor, &chunk, chunk.count) }
        guard count >= 0 else { throw failure() }
        isAtEnd = count == 0
        rest = chunk[..<count]
    }

    private func failure() -> FileError {
        FileError("cannot read \(name): \(String(cString: strerror(errno)))")
    }
}

/// A file that cannot be read, or that is too large.
struct FileError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
