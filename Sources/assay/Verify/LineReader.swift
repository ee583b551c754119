#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads a file, or standard input, line by line; lines and files have at most 1 MiB.
final class LineReader {
    private static let limit = 1 << 20

    private let name: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isAtEnd = false

    /// - Parameter name: a file's name; `-` is standard input.
    init(_ name: String) throws(FileError) {
        self.name = name == "-" ? "standard input" : name
        descriptor = name == "-" ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
    }

    deinit {
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// The next line that is not empty, without its end; nil when there is none.
    func next() throws(FileError) -> [UInt8]? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<end])
                buffer.removeSubrange(...end)
                if !line.isEmpty { return line }
                continue
            }
            guard !isAtEnd else {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : buffer
            }
            try fill()
        }
    }

    /// All bytes of a file.
    static func contents(of name: String) throws(FileError) -> [UInt8] {
        let reader = try LineReader(name)
        while !reader.isAtEnd { try reader.fill() }
        return reader.buffer
    }

    private func fill() throws(FileError) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { return }
        guard count >= 0 else { throw failure() }
        isAtEnd = count == 0
        buffer.append(contentsOf: chunk.prefix(count))
        guard buffer.count <= Self.limit + chunk.count else {
            throw FileError("\(name) has more than 1 MiB in a line")
        }
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
