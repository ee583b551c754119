#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads the lines of a file with records, plain or compressed with gzip, in pieces of bounded size.
struct RecordFile {
    private let name: String
    private let descriptor: Int32
    private static let pieceSize = 1 << 18
    /// A longer line is no record.
    private static let longestLine = 1 << 20

    /// - Parameter name: a file's name; `-` is standard input.
    /// - Throws: why it cannot be opened.
    init(_ name: String) throws(UnreadableFile) {
        self.name = name == "-" ? "standard input" : name
        descriptor = name == "-" ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
    }

    /// Gives each line that is not empty, without its end, and its number; nil for one that is too long.
    ///
    /// - Throws: why the file cannot be read to its end.
    func forEachLine(_ body: (ArraySlice<UInt8>?, Int) -> Void) throws(UnreadableFile) {
        defer { if descriptor > STDIN_FILENO { close(descriptor) } }
        var lines = LineSplitter(limit: Self.longestLine)
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        var gunzip: GUnzip?
        var isFirst = true
        while true {
            var count = readBytes(descriptor, &piece, piece.count)
            while count < 0, errno == EINTR { count = readBytes(descriptor, &piece, piece.count) }
            guard count >= 0 else { throw failure }
            if count == 0 { break }
            let bytes = piece[..<count]
            if isFirst, bytes.starts(with: GUnzip.magic) { gunzip = GUnzip() }
            isFirst = false
            guard let stream = gunzip else {
                lines.read(bytes, body)
                continue
            }
            guard stream.read(bytes, { lines.read($0, body) }) else {
                throw UnreadableFile(description: "\(name) is damaged: it cannot be decompressed")
            }
        }
        if let stream = gunzip, !stream.isAtEnd {
            throw UnreadableFile(description: "\(name) is cut: the compressed data end too early")
        }
        lines.finish(body)
    }

    private var failure: UnreadableFile {
        UnreadableFile(description: "cannot read \(name): \(String(cString: strerror(errno)))")
    }
}

/// A file that cannot be read.
struct UnreadableFile: Error, CustomStringConvertible {
    let description: String
}

/// Splits bytes that come in pieces into lines.
struct LineSplitter {
    private let limit: Int
    private var rest: [UInt8] = []
    private var isTooLong = false
    private var number = 0

    /// - Parameter limit: the most bytes of a line.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func read(_ piece: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>?, Int) -> Void) {
        var piece = piece
        while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
            let line = piece[..<end]
            piece = piece[(end + 1)...]
            if rest.isEmpty, !isTooLong {
                give(line, body)
            } else {
                keep(line)
                giveRest(body)
            }
        }
        keep(piece)
    }

    /// Gives the last line, if it has no end.
    mutating func finish(_ body: (ArraySlice<UInt8>?, Int) -> Void) {
        if isTooLong || !rest.isEmpty { giveRest(body) }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        isTooLong = isTooLong || rest.count + bytes.count > limit
        if isTooLong { rest = [] } else { rest += bytes }
    }

    private mutating func giveRest(_ body: (ArraySlice<UInt8>?, Int) -> Void) {
        if isTooLong {
            number += 1
            body(nil, number)
        } else {
            give(rest[...], body)
        }
        rest.removeAll(keepingCapacity: true)
        isTooLong = false
    }

    private mutating func give(_ line: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>?, Int) -> Void) {
        number += 1
        guard line.count <= limit else { return body(nil, number) }
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        if !line.isEmpty { body(line, number) }
    }
}

// Inside the type above, the name means its own method.
private func readBytes(_ descriptor: Int32, _ buffer: inout [UInt8], _ count: Int) -> Int {
    read(descriptor, &buffer, count)
}
