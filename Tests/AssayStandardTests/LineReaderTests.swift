import AssayTestSupport
import Foundation
import Testing

@testable import AssayStandard

/// A batch is verified line by line: a line that is lost, cut or misnumbered is evidence that nobody has looked at.
@Suite("Reading files line by line")
struct LineReaderTests {
    private static let limit = 1 << 20
    /// How much is read at once.
    private static let chunk = 65_536

    struct Read: Equatable {
        let number: Int
        /// Nil for a line that is too long.
        let text: String?
    }

    private func lines(of bytes: [UInt8]) async throws -> [Read] {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("lines")
            try Data(bytes).write(to: file)
            let reader = try LineReader(file.path)
            var lines: [Read] = []
            while let line = try reader.next() {
                lines.append(Read(number: line.number, text: line.bytes.map { String(decoding: $0, as: UTF8.self) }))
            }
            #expect(try reader.next() == nil, "the end is not the end")
            return lines
        }
    }

    @Test(
        "Blank lines are counted and passed over, and the last line needs no end",
        arguments: [
            ("", []), ("\n\n \t\r\n", []), ("a", [Read(number: 1, text: "a")]), ("a\n", [Read(number: 1, text: "a")]),
            ("\n a\n\nb", [Read(number: 2, text: " a"), Read(number: 4, text: "b")]),
            ("a\r\n\r\nb\r\n", [Read(number: 1, text: "a\r"), Read(number: 3, text: "b\r")]),
            ("a\rb\n", [Read(number: 1, text: "a\rb")]),
            ("\0\nb", [Read(number: 1, text: "\0"), Read(number: 2, text: "b")]),
            ("\u{2028}\n\u{A0}", [Read(number: 1, text: "\u{2028}"), Read(number: 2, text: "\u{A0}")]),
        ] as [(String, [Read])])
    func blanks(_ text: String, _ expected: [Read]) async throws {
        #expect(try await lines(of: Array(text.utf8)) == expected)
    }

    @Test(
        "A line that ends where one read ends is whole, and so is the next one",
        arguments: [chunk - 2, chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk])
    func chunks(_ length: Int) async throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        let read = try await lines(of: long + Array("\nb\n".utf8) + long)
        #expect(read.map(\.number) == [1, 2, 3])
        #expect(read.map { $0.text?.utf8.count } == [length, 1, length])
        #expect(read.dropFirst().first?.text == "b")
    }

    @Test("A line of 1 MiB is read; one byte more makes it a line without content, and the next one is read")
    func longest() async throws {
        for (length, isRead) in [(Self.limit - 1, true), (Self.limit, true), (Self.limit + 1, false)] {
            let read = try await lines(of: [UInt8](repeating: 0x61, count: length) + Array("\nb".utf8))
            #expect(read.map { $0.text?.utf8.count } == [isRead ? length : nil, 1])
            #expect(read.map(\.number) == [1, 2])
        }
    }

    @Test("A whole file has at most 1 MiB, and a larger one is refused by its name")
    func contents() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("anchor.pem").path
            for length in [0, 1, Self.chunk, Self.limit] {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
                try Data(bytes).write(to: URL(fileURLWithPath: file))
                #expect(try LineReader.contents(of: file) == bytes)
            }
            try Data(count: Self.limit + 1).write(to: URL(fileURLWithPath: file))
            let error = #expect(throws: FileError.self) { try LineReader.contents(of: file) }
            #expect(error?.description == "\(file) has more than 1 MiB")
        }
    }

    @Test("A file of more than 1 MiB is refused")
    func tooLarge() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("large").path
            try Data(count: Self.limit + 1).write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: FileError.self) { try LineReader.contents(of: path) }
            #expect(error?.description == "\(path) has more than 1 MiB")
        }
    }

    @Test("What cannot be read is named, with what the system says")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            let missing = folder.appendingPathComponent("missing").path
            let error = #expect(throws: FileError.self) { try LineReader(missing) }
            #expect(error?.description == "cannot read \(missing): No such file or directory")
            let pipe = folder.appendingPathComponent("pipe").path
            try #require(mkfifo(pipe, 0o600) == 0)
            // A pipe without a writer, and what has no end, are not waited for.
            for path in [folder.path, pipe, "/dev/zero"] {
                let other = #expect(throws: FileError.self) { try LineReader(path) }
                #expect(other?.description == "\(path) is not a regular file")
            }
        }
    }
}
