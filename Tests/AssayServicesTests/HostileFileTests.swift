import AssayCore
import AssayKit
import AssayServices
import Foundation
import SwiftOverlayShims
import Testing

/// Files come from elsewhere, and may be made so that reading them takes long, or tells half of it.
@Suite("Hostile audit files", .timeLimit(.minutes(10)))
struct HostileFileTests {
    /// The seconds of this thread's time that work takes, whatever else the machine does.
    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    private func makeSparse(_ path: String, _ size: UInt64) throws {
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: size)
        try file.close()
    }

    // MARK: - What is opened

    @Test("A pipe, a socket, a device and a folder are refused at once")
    func irregular() async throws {
        try await withFolder { folder in
            let (pipe, name) = ("\(folder)/pipe", "\(folder)/s")
            try #require(mkfifo(pipe, 0o600) == 0)
            let socket = try ListeningSocket(name)
            defer { socket.close() }
            for path in [pipe, name, "/dev/zero", folder] {
                let error = #expect(throws: AuditFileError.self) { try AuditReader(path) }
                #expect(error?.message == "\(path) is not a regular file")
                let other = #expect(throws: RegularFile.Failure.self) { try RegularFile.open(path) }
                #expect(other?.description == "\(path) is not a regular file")
            }
            let missing = #expect(throws: RegularFile.Failure.self) { try RegularFile.open("\(folder)/none") }
            #expect(missing?.description == "cannot read \(folder)/none: No such file or directory")
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: pipe)
            #expect(throws: AuditFileError.self) { try AuditReader("\(folder)/link") }
        }
    }

    @Test("Indexes that a shell's pattern names are passed over, and a file that only ends like one is not")
    func indexes() async throws {
        try await withFolder { folder in
            for name in ["a.jsonl", "a.jsonl.idx", "b.idx"] {
                try Data("{}\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            }
            let names = ["a.jsonl", "a.jsonl.idx", "b.idx"].map { "\(folder)/\($0)" }
            #expect(try AuditPaths.files(names).sortedExactly() == ["\(folder)/a.jsonl", "\(folder)/b.idx"])
        }
    }

    // MARK: - How long it takes

    @Test("Lines are cut and numbered alike in whatever pieces they come, and empty ones are counted", arguments: 1...8)
    func pieces(_ seed: UInt64) {
        var random = Seeded(state: seed)
        let bytes =
            (0..<30_000).map { _ in Array("\n\n\n\n\nab\r".utf8)[random.next(8)] }
            + [UInt8](repeating: 0x0A, count: 9000) + Array("end".utf8)
        let expected = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            .filter { !$0.element.isEmpty }.map { "\($0.offset + 1) \(String(decoding: $0.element, as: UTF8.self))" }
        var (splitter, found, count) = (LineSplitter(), [String](), 0)
        func take(_ line: LineSplitter.Line) {
            #expect(line.number == count + 1 && (line.count == 1 || line.bytes.isEmpty))
            count += line.count
            if !line.bytes.isEmpty { found.append("\(line.number) \(String(decoding: line.bytes, as: UTF8.self))") }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let size = [1, 2, 5000, 20_000][random.next(4)]
            splitter.add(Array(rest.prefix(size)), take)
            rest = rest.dropFirst(size)
        }
        splitter.finish(take)
        #expect(found == expected)
        #expect(count == bytes.count { $0 == 0x0A } + 1)
    }

    @Test("60 MiB of empty lines cost next to nothing, in a compressed file and in another one")
    func emptyLines() async throws {
        try await withFolder { folder in
            let path = "\(folder)/lines"
            try Data(repeating: 0x0A, count: 60 << 20).write(to: URL(fileURLWithPath: path))
            try GZipBlocks.compress(path, to: "\(folder)/lines.gz")
            for path in [path, "\(folder)/lines.gz"] {
                let time = try seconds { () throws in
                    #expect(try AuditVerification([path]).verifier.lines == 60 << 20)
                    #expect(try AuditLookup([path], indexing: .none).count(by: .reason).counts.isEmpty)
                    #expect(try AuditLookup([path], indexing: .read).count(by: .reason).counts.isEmpty)
                }
                #expect(time < 10, "\(path)")
            }
        }
    }

    /// The end of a line that is made to be slow, and how many of such lines have about 30 MB.
    private static func slowLine(_ name: String) -> (rest: String, count: Int) {
        func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }
        return switch name {
        case "deep": (#","facts":"# + times(60, #"{"a":"#) + "1" + times(60, "}"), 60_000)
        case "many members": (times(1000, #","name":1"#), 3000)
        case "numbers": (#","n":"# + times(1000, "9"), 30_000)
        case "escapes": (#","reason":""# + times(500_000, #"\""#) + #"""#, 30)
        case "brackets in text": (#","x":[""# + times(250_000, #"[{\\"#) + #""]"#, 30)
        case "rules": (#","would_refuse":["# + times(1200, #""rule","#) + "1]", 3000)
        default: (#","x":""# + times(1_000_000, "a"), 30)
        }
    }

    @Test(
        "Lines that are made to be slow take time in proportion to their bytes, and are found with an index and without",
        arguments: ["deep", "many members", "numbers", "escapes", "brackets in text", "rules", "unfinished text"])
    func slowLines(_ name: String) async throws {
        try await withFolder { folder in
            let (rest, count) = Self.slowLine(name)
            let line =
                #"{"time":"2026-11-24T08:00:00.000Z","decision":"01M","method":"m","outcome":"refused""# + rest + "}\n"
            let path = "\(folder)/audit.jsonl"
            try Data(String(repeating: line, count: count).utf8).write(to: URL(fileURLWithPath: path))
            // A build for debugging needed 8 seconds of such lines before.
            for indexing in [AuditLookup.Indexing.read, .none] {
                let lookup = try AuditLookup([path], indexing: indexing)
                let time = try seconds { () throws in
                    let counts = try lookup.count(by: .outcome).counts
                    #expect(counts.map(\.count) == (name == "unfinished text" ? [] : [UInt64(count)]))
                }
                #expect(time < 6)
            }
        }
    }

    // MARK: - How much it expands to

    @Test("A stream is decompressed within the same bound as a file, and a cut one is an error")
    func stream() async throws {
        try await withFolder { folder in
            func read(_ path: String) throws(AuditFileError) -> [Int] {
                let file = open(path, O_RDONLY | O_CLOEXEC)
                defer { close(file) }
                var numbers: [Int] = []
                try AuditStream.lines(of: file, name: "standard input") { numbers.append($0.number) }
                return numbers
            }
            try await write(0..<2000, to: "\(folder)/plain")
            #expect(try read("\(folder)/plain") == Array(1...2001))
            try GZipBlocks.compress("\(folder)/plain", to: "\(folder)/plain.gz")
            #expect(try read("\(folder)/plain.gz") == Array(1...2001))
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/plain.gz"))
            for cut in [1, 9, 2000] {
                try data.dropLast(cut).write(to: URL(fileURLWithPath: "\(folder)/cut.gz"))
                let error = #expect(throws: AuditFileError.self) { try read("\(folder)/cut.gz") }
                #expect(error?.message == "standard input: the gzip data is cut off")
            }
            try makeSparse("\(folder)/zeros", 100 << 20)
            try GZipBlocks.compress("\(folder)/zeros", to: "\(folder)/bomb.gz")
            let bomb = #expect(throws: AuditFileError.self) { try read("\(folder)/bomb.gz") }
            #expect(bomb?.message == "standard input: the gzip data expands to more than 250 times its size")
        }
    }

    // MARK: - What is missing

    @Test("Of a file that is cut off what is there is found, and that something is missing is said each time")
    func cut() async throws {
        try await withFolder { folder in
            try await write(0..<3000, to: "\(folder)/plain")
            try GZipBlocks.compress("\(folder)/plain", to: "\(folder)/whole.gz")
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/whole.gz"))
            try data.dropLast(data.count / 3).write(to: URL(fileURLWithPath: "\(folder)/cut.gz"))
            var counts: Set<UInt64> = []
            for indexing in [AuditLookup.Indexing.kept, .kept, .read, .none] {
                let lookup = try AuditLookup(["\(folder)/cut.gz"], indexing: indexing)
                let found = try lookup.list(DecisionQuery(limit: 5000))
                #expect(found.isIncomplete)
                #expect(found.notes.contains { $0.contains("cut.gz: the gzip data is cut off; what comes after") })
                let counted = try lookup.count(by: .outcome)
                #expect(counted.isIncomplete && counted.counts.map(\.count) == [UInt64(found.lines.count)])
                #expect(try lookup.find(decision(7).text).lines.count == 1)
                counts.insert(UInt64(found.lines.count))
                #expect(
                    try AuditLookup(["\(folder)/whole.gz"], indexing: indexing).count(by: .outcome).isIncomplete
                        == false)
            }
            #expect(counts.count == 1 && (1000..<3000).contains(counts.first ?? 0))
        }
    }

    @Test("Files without a single record and folders without a file are named")
    func nothing() async throws {
        try await withFolder { folder in
            for name in ["empty", "only"] {
                try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            try Data("not an audit file\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/only/words"))
            try await write(0..<0, to: "\(folder)/only/fresh.jsonl")
            try await write(0..<5, to: "\(folder)/only/audit.jsonl")
            let expected = [
                "\(folder)/only/fresh.jsonl has no record of a decision",
                "\(folder)/only/words has no record of a decision", "no audit file in \(folder)/empty",
            ]
            for indexing in [AuditLookup.Indexing.kept, .read, .none] {
                let lookup = try AuditLookup(["\(folder)/empty", "\(folder)/only"], indexing: indexing)
                for notes in [
                    try lookup.list(DecisionQuery(limit: 5)).notes, try lookup.count(by: .app).notes,
                    try lookup.find("none").notes,
                ] {
                    #expect(notes.filter { !$0.hasPrefix("read without") }.sorted() == expected)
                }
            }
            var empty: [String] = []
            let outcomes = try AuditIndexing.index(["\(folder)/empty", "\(folder)/only"], empty: &empty)
            #expect(empty == ["\(folder)/empty"])
            #expect(outcomes.map(\.hasDecisions) == [true, false, false])
        }
    }
}

/// A Unix socket in the place of a file.
private struct ListeningSocket {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
    }

    func close() { _ = Foundation.close(descriptor) }
}
