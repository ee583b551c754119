import AssayCore
import AssayKit
import Foundation
import Logging
import Testing

@testable import AssayCommand

@Suite("Log lines")
struct LogLineTests {
    private static func entry(
        message: String = "something happened", label: String = "assay", metadata: Logger.Metadata = [:]
    ) -> LogEntry {
        LogEntry(
            time: Instant(milliseconds: 1_795_262_400_000), level: .notice, label: label, source: "AssayEngine",
            message: message, metadata: metadata)
    }

    private static func json(_ entry: LogEntry) throws -> JSON {
        let line = LogFormat.json.line(entry)
        #expect(line.last == UInt8(ascii: "\n"))
        #expect(line.dropLast().allSatisfy { (0x20..<0x7F).contains($0) })
        return try JSON.parse(Array(line), limits: JSON.Limits(bytes: 1 << 20, allowsRepeatedNames: false))
    }

    @Test("As JSON, a line is one object with the time, the level, the label, the message and the metadata")
    func json() throws {
        let line = try Self.json(
            Self.entry(metadata: [
                "decision": "01M", "ms": .stringConvertible(0.25), "count": .stringConvertible(7 as UInt),
                "limited_use": .stringConvertible(true), "detail": .stringConvertible(LogField("in \"words\"")),
                "list": ["a", ["b": "c"]],
            ]))
        let expected: JSON = [
            "time": "2026-11-21T12:00:00.000Z", "level": "notice", "label": "assay", "source": "AssayEngine",
            "message": "something happened", "count": 7, "decision": "01M", "detail": "in \"words\"",
            "limited_use": true, "list": ["a", ["b": "c"]], "ms": .number(0.25),
        ]
        #expect(line == expected)
    }

    @Test("As text, a line is what it always was")
    func text() {
        let entry = Self.entry(metadata: [
            "reason": "debug_token_unknown", "detail": .stringConvertible(LogField("a b")),
        ])
        #expect(
            String(decoding: LogFormat.text.line(entry), as: UTF8.self)
                == "2026-11-21T12:00:00.000Z notice assay: detail=\"a b\" reason=debug_token_unknown "
                + "[AssayEngine] something happened\n")
    }

    private static let hostile = [
        "a\nnotice b", "a\r\nb", "\u{1B}[2J", "\u{202E}a\u{2066}", "\u{2028}\u{2029}\u{85}\u{0}\u{7F}",
        "\"}\n{\"a\":\"b", "\u{FEFF}\u{200B}", "😀é", "", " ", "a b", "a=b", "\"", "\\", "a\\", "a b\\", "\\\"",
        "\" c=\"d",
        "a\" reason=forged", "\tx", "\u{A0}", "\u{E0001}\u{10FFFF}", "[AssayEngine] forged", "\\u{1b}\\u001b\\n", "'a'",
    ]

    @Test("Nobody can write another line, or steer a terminal, whatever a value holds", arguments: hostile)
    func injection(_ text: String) throws {
        let entry = Self.entry(message: text, label: text, metadata: ["name \(text)": "\(text)"])
        let line = try Self.json(entry)
        #expect(line["message"]?.string == text)
        #expect(line["label"]?.string == text)
        #expect(line["name \(text)"]?.string == text)
        let shown = String(decoding: LogFormat.text.line(entry).dropLast(), as: UTF8.self)
        for scalar in shown.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Issue.record("U+\(scalar.value)")
            default: break
            }
        }
    }

    @Test("As text, a reader of name=value gets each value as it was", arguments: hostile)
    func reading(_ text: String) throws {
        let entry = Self.entry(metadata: [
            "a": "\(text)", "b": .stringConvertible(LogField(text)), "c": .stringConvertible(7), "d": "end",
            "list": [.string(text), ["name": .string(text)]],
        ])
        let line = Array(LogFormat.text.line(entry).dropLast())
        let fields = try #require(Self.fields(of: line))
        #expect(fields.map(\.name) == ["a", "b", "c", "d", "list"])
        #expect(fields.map(\.value).prefix(4) == [text, text, "7", "end"])
        // Nothing in a text is a name of a field of its own.
        #expect(try JSON.parse(Array((fields.last?.value ?? "").utf8)) == [.string(text), ["name": .string(text)]])
        // The rule is one: the value of a field is the same in another log of `name=value`.
        #expect(String(decoding: line, as: UTF8.self).contains(" b=\(LogField(text)) "))
    }

    @Test("As text, quotation marks stand where they are needed, and only there")
    func quoting() {
        let rows = [
            ("plain", "plain"), ("1:2:ios:ab/c", "1:2:ios:ab/c"), ("é", "é"), ("", "\"\""), ("a b", "\"a b\""),
            ("a=b", "\"a=b\""),
            ("a\"b", #""a\"b""#), (#"a\"#, #""a\\""#), ("a\nb", #""a\nb""#), ("\u{202E}", #""\u202e""#),
            ("\u{1}", #""\u0001""#),
        ]
        for (text, shown) in rows { #expect("\(LogField(text))" == shown) }
    }

    /// What a reader finds between the label and the module: `name=value`, where a value is a word, or a string of JSON.
    private static func fields(of line: [UInt8]) -> [(name: String, value: String)]? {
        let head = Array("2026-11-21T12:00:00.000Z notice assay: ".utf8)
        guard line.starts(with: head) else { return nil }
        var rest = line.dropFirst(head.count)
        var fields: [(name: String, value: String)] = []
        while rest.first != UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if rest.first == UInt8(ascii: "\"") {
                var index = rest.startIndex + 1
                while index < rest.endIndex, rest[index] != UInt8(ascii: "\"") {
                    index += rest[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard index < rest.endIndex, let text = try? JSON.parse(Array(rest[...index])).string else {
                    return nil
                }
                fields.append((name, text))
                rest = rest[(index + 1)...]
            } else {
                let word = rest.prefix { $0 != UInt8(ascii: " ") }
                fields.append((name, String(decoding: word, as: UTF8.self)))
                rest = rest.dropFirst(word.count)
            }
            guard rest.popFirst() == UInt8(ascii: " ") else { return nil }
        }
        return fields
    }

    @Test(
        "A name of metadata that is the format's own keeps away from it",
        arguments: ["time", "level", "label", "source", "message", "truncated"])
    func names(_ name: String) throws {
        let line = try Self.json(Self.entry(metadata: [name: "mine"]))
        #expect(line["metadata.\(name)"] == "mine")
        #expect(line["message"] == "something happened")
    }

    @Test(
        "A line is bounded whatever is in it, still says what happened, and that something is missing",
        arguments: ["a", "é", "😀", "\n", "\"", "\u{1B}"])
    func bounds(_ character: String) throws {
        let long = String(repeating: character, count: 100_000)
        let entry = Self.entry(
            message: long, metadata: Dictionary(uniqueKeysWithValues: (0..<100).map { ("name\($0)", "\(long)") }))
        let line = try Self.json(entry)
        #expect(LogFormat.json.line(entry).count <= LogEntry.lineLimit + 1)
        #expect(line["truncated"] == true)
        #expect(line["message"]?.string?.hasSuffix("...") == true)
        let text = LogFormat.text.line(entry)
        #expect(text.count <= LogEntry.lineLimit + 1)
        #expect(String(validating: text, as: UTF8.self)?.contains(" truncated=true [AssayEngine] ") == true)
    }

    @Test("Nothing is nested without end")
    func nesting() throws {
        var value = Logger.MetadataValue.string("deep")
        for _ in 0..<1000 { value = .array([value]) }
        #expect(try Self.json(Self.entry(metadata: ["list": value]))["list"] == [[[["..."]]]])
    }

    @Test("Lines of many threads never mix", arguments: LogFormat.allCases)
    func concurrency(_ format: LogFormat) async throws {
        let pipe = Pipe()
        let output = LogOutput(pipe.fileHandleForWriting.fileDescriptor)
        // Longer than a pipe takes at once, so that lines are written in pieces.
        let words = String(repeating: "words ", count: 1500)
        // A thread of its own: those of the writers are all of the test's, and wait for it.
        let text = AsyncStream<Data> { continuation in
            Thread.detachNewThread {
                continuation.yield(pipe.fileHandleForReading.readDataToEndOfFile())
                continuation.finish()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let handler = LineLogHandler(label: "assay", format: format, output: output)
                    let logger = Logger(label: "assay") { _ in handler }
                    for number in 0..<50 {
                        logger.info(
                            "line \(task)-\(number).", metadata: ["words": "\(words.prefix(4000))", "n": "\(number)"])
                    }
                }
            }
        }
        try pipe.fileHandleForWriting.close()
        let data = try #require(await text.first { _ in true })
        let lines = data.split(separator: UInt8(ascii: "\n"))
        var seen: Set<String> = []
        for line in lines {
            switch format {
            case .json: seen.insert(try JSON.parse(Array(line))["message"]?.string ?? "")
            case .text:
                let shown = String(decoding: line, as: UTF8.self)
                #expect(shown.hasPrefix("2") && shown.count { $0 == "[" } == 1)
                seen.insert(String(shown.split(separator: "] ").last ?? ""))
            }
        }
        #expect(lines.count == 400)
        #expect(seen == Set((0..<8).flatMap { task in (0..<50).map { "line \(task)-\($0)." } }))
    }
}
