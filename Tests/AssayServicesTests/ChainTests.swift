import AssayCore
import AssayCrypto
import AssayServices
import Foundation
import Testing

@Suite("The chain of an audit file", .timeLimit(.minutes(5)))
struct ChainTests {
    @Test("The first line begins a chain, and the others follow, as the documentation defines it")
    func definition() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<3, to: path)
            var value = ""
            let lines = try lines(path)
            #expect(lines.count == 4)
            #expect(try JSON.parse(Array(lines[0].utf8))["event"] == "audit_started")
            for (index, line) in lines.enumerated() {
                let json = try JSON.parse(Array(line.utf8))
                #expect(json.members?.suffix(2).map(\.name) == ["seq", "chain"])
                #expect(json["seq"] == .integer(Int64(index + 1)))
                let body = try #require(line.range(of: ",\"chain\":").map { line[..<$0.lowerBound] })
                value = Base64.encodeURL(SHA256.hash(Array((value + body).utf8)))
                #expect(json["chain"] == .string(value))
            }
            let verification = try AuditVerification([path])
            #expect(verification.isIntact)
            #expect(verification.verifier.chains.map(\.last) == [AuditChain.Head(sequence: 4, value: value)])
        }
    }

    @Test(
        "Each kind of change is found, at its line",
        arguments: [
            ("change", ["changed 3"]), ("change with its own hash", ["changed 4"]), ("remove", ["missing 3"]),
            ("remove three", ["missing 3"]), ("insert", ["foreign 3"]), ("insert a line of the chain", ["repeated 7"]),
            ("repeat", ["repeated 4"]), ("swap", ["moved 4"]), ("move to the end", ["moved 11"]),
            ("strip the chain", ["foreign 3", "missing 4"]),
            ("change the number", ["moved 4", "repeated 5", "changed 6", "missing 3"]),
            ("repeat the first", ["repeated 3"]), ("remove the first", ["missing 1"]),
            ("remove the first three", ["missing 1"]),
            ("change the first", ["changed 1"]), ("remove the last", []), ("nothing", []),
            ("insert an empty line", ["foreign 3"]), ("insert garbage", ["foreign 3"]),
        ] as [(String, [String])])
    func mutations(_ name: String, _ expected: [String]) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<10, to: path)
            var lines = try lines(path)
            switch name {
            case "change": lines[2] = lines[2].replacingOccurrences(of: "192.0.2.1", with: "192.0.2.2")
            case "change with its own hash":
                let body = try JSON.parse(Array(lines[2].utf8)).members?.dropLast(2).map(\.self) ?? []
                let changed = JSON.object(body.filter { $0.name != "peer" }).encoded
                let before = try #require(AuditChain.Line(Array(lines[1].utf8)[...])).head
                lines[2] = String(decoding: AuditChain.seal(changed[...], after: before).line, as: UTF8.self)
            case "remove": lines.remove(at: 2)
            case "remove three": lines.removeSubrange(2..<5)
            case "insert": lines.insert("{\"time\":\"2026-11-21T12:00:00.000Z\",\"decision\":\"x\"}", at: 2)
            case "insert a line of the chain": lines.insert(lines[2], at: 6)
            case "repeat": lines.insert(lines[2], at: 3)
            case "swap": lines.swapAt(2, 3)
            case "move to the end": lines.append(lines.remove(at: 2))
            case "strip the chain": lines[2] = lines[2].split(separator: ",\"seq\"")[0] + "}"
            case "change the number": lines[2] = lines[2].replacingOccurrences(of: "\"seq\":3", with: "\"seq\":5")
            case "repeat the first": lines.insert(lines[0], at: 2)
            case "remove the first": lines.removeFirst()
            case "remove the first three": lines.removeFirst(3)
            case "change the first": lines[0] = lines[0].replacingOccurrences(of: "audit_started", with: "audit_begun")
            case "remove the last": lines.removeLast()
            case "insert an empty line": lines.insert("", at: 2)
            case "insert garbage": lines.insert("\u{0}\u{1F600}{{{\\", at: 2)
            default: break
            }
            try save(lines, to: path)
            let verification = try AuditVerification([path])
            #expect(verification.problems == expected)
            #expect(verification.isIntact == expected.isEmpty)
        }
    }

    @Test("A removed range is named by its numbers, and a head from elsewhere shows an end that was removed")
    func ranges() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<10, to: path)
            let all = try lines(path)
            let head = try #require(AuditVerification([path]).verifier.chains.last?.last)
            try save(Array(all[..<3] + all[6...]), to: path)
            let verification = try AuditVerification([path])
            #expect(verification.verifier.findings.map(\.missing) == [4...6])
            #expect(verification.verifier.findings[0].words == "lines 4 to 6 of the chain are missing before this line")

            try save(Array(all.dropLast(2)), to: path)
            #expect(try AuditVerification([path]).isIntact)
            #expect(try AuditVerification([path], expecting: [head]).problems == ["unexpected_head 0"])
            try save(all, to: path)
            #expect(try AuditVerification([path], expecting: [head]).isIntact)
            #expect(
                try AuditVerification([path], expecting: [AuditChain.Head(sequence: 5, value: head.value)]).isIntact
                    == false)
        }
    }

    @Test("Each of several expected heads must be there, and each that is not is a finding")
    func severalHeads() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<10, to: path)
            let all = try lines(path)
            let heads = try all.map { try #require(AuditChain.Line(Array($0.utf8)[...])).head }
            #expect(try AuditVerification([path], expecting: [heads[3], heads[10], heads[3]]).isIntact)
            try save(Array(all.dropLast(3)), to: path)
            let cut = try AuditVerification([path], expecting: [heads[3], heads[8], heads[10]])
            #expect(cut.problems == ["unexpected_head 0", "unexpected_head 0"])
            #expect(cut.verifier.findings.last?.words.contains("line 11 is expected") == true)
        }
    }

    @Test("A missing beginning is a finding, unless the head before it is known from elsewhere")
    func missingBeginning() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<10, to: path)
            let all = try lines(path)
            let heads = try all.map { try #require(AuditChain.Line(Array($0.utf8)[...])).head }
            try save(Array(all[4...]), to: path)
            let verification = try AuditVerification([path])
            #expect(verification.verifier.findings.map(\.missing) == [1...4])
            #expect(verification.verifier.chains.map(\.beginning) == [.missing])
            let known = try AuditVerification([path], after: [heads[7], heads[3]])
            #expect(known.problems == [])
            #expect(known.verifier.chains.map(\.beginning) == [.given])
            let wrong = AuditChain.Head(sequence: 4, value: heads[5].value)
            #expect(try AuditVerification([path], after: [wrong, heads[4]]).problems == ["missing 1"])
            // What must be there is not there by being known.
            #expect(
                try AuditVerification([path], expecting: [heads[3]]).problems == ["missing 1", "unexpected_head 0"])
        }
    }

    @Test("A line that a crash has cut off is kept, and told from a change, wherever it was cut")
    func torn() async throws {
        for cut in [1, 2, 30, 60, 100, 150] {
            try await withFolder { folder in
                let path = "\(folder)/audit.jsonl"
                try await write(0..<3, to: path)
                let whole = try Data(contentsOf: URL(fileURLWithPath: path))
                try whole.dropLast(cut).write(to: URL(fileURLWithPath: path))
                #expect(try AuditVerification([path]).isIntact)
                try await write(3..<6, to: path)
                let verification = try AuditVerification([path])
                #expect(verification.problems == [])
                // Where only the end of the line is missing, the line is whole.
                #expect(verification.verifier.torn == (cut == 1 ? 0 : 1))
                #expect(verification.verifier.chains.map(\.last.sequence) == [cut == 1 ? 7 : 6])

                // The torn line cannot be changed, removed or repeated, either.
                guard cut > 1 else { return }
                let all = try lines(path)
                try save(all.enumerated().filter { $0.offset != 3 }.map(\.element), to: path)
                #expect(try AuditVerification([path]).problems == ["missing 4"])
                try save(Array(all[..<3] + [all[3] + "x"] + all[4...]), to: path)
                let changed = try AuditVerification([path])
                #expect(changed.problems == ["foreign 4"])
                #expect(
                    changed.verifier.findings[0].words
                        == "a line is in no chain; line 4 of the chain says that other bytes were torn here")
            }
        }
    }

    @Test("Lines from before the chain stay, and the chain says that it began after them")
    func older() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try Data("{\"old\":1}\n{\"old\":2}".utf8).write(to: URL(fileURLWithPath: path))
            try await write(0..<2, to: path)
            let verification = try AuditVerification([path])
            #expect(verification.problems == [])
            #expect(verification.verifier.outside == 2)
            #expect(try JSON.parse(Array(lines(path)[2].utf8))["after"] == "other_lines")
        }
    }

    @Test(
        "Hostile bytes give findings at their lines, and nothing else",
        arguments: [
            ([UInt8](repeating: 0x41, count: 3 << 20), ["foreign 5"]), ([0], ["foreign 5"]),
            ([0xFF, 0xFE, 0x0A, 0xC3], ["foreign 5"]), (Array("{\"seq\":5,\"chain\":\"\"}".utf8), ["foreign 5"]),
            (
                Array(
                    ("{\"a\":1,\"seq\":99999999999999999999,\"chain\":\"" + String(repeating: "A", count: 43) + "\"}")
                        .utf8), ["foreign 5"]
            ),
            (
                Array(
                    ("{\"a\":1,\"seq\":9223372036854775807,\"chain\":\"" + String(repeating: "A", count: 43) + "\"}")
                        .utf8), ["moved 6"]
            ),
            (Array((String(repeating: "[", count: 100_000)).utf8), ["foreign 5"]),
        ] as [([UInt8], [String])])
    func hostile(_ bytes: [UInt8], _ expected: [String]) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<5, to: path)
            let all = try lines(path)
            var data = Data((all[..<4].joined(separator: "\n") + "\n").utf8)
            data += bytes + [0x0A] + Array((all[4...].joined(separator: "\n") + "\n").utf8)
            try data.write(to: URL(fileURLWithPath: path))
            let problems = try AuditVerification([path]).problems
            #expect(expected.allSatisfy(problems.contains), "\(problems)")
        }
    }

    @Test(
        "A file without a line of a chain is no record of a server, whatever else is in it",
        arguments: [
            "", "x", "{}\n", "not an audit file\nat all", String(repeating: "\n", count: 5000), "torn",
            "{\"time\":\"2026-11-24T08:00:00.000Z\",\"decision\":\"01M\"}\n", String(repeating: "a", count: 2 << 20),
        ])
    func junk(_ text: String) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<1, to: path)
            let torn = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(40)
            try (text == "torn" ? torn : Data(text.utf8)).write(to: URL(fileURLWithPath: path))
            let verification = try AuditVerification([path])
            #expect(!verification.isIntact)
            #expect(verification.verifier.torn == 0)
            #expect(
                verification.verifier.findings.first?.words
                    == "there is no record of a server in \(path): no line has a place in a chain")
        }
    }

    @Test(
        "What is in no chain is described as it is",
        arguments: [
            (["x"], "a line is in no chain"), (["x", "y", ""], "3 lines are in no chain"),
            (Array(repeating: String(repeating: "x", count: 1000), count: 3000), "3000 lines are in no chain"),
            (
                [String(repeating: "x", count: (1 << 20) + 1)],
                "a line is in no chain, and longer than any line of a server"
            ),
            (
                [String(repeating: "x", count: (1 << 20) + 1), "y"],
                "2 lines are in no chain, and one is longer than any line of a server"
            ),
        ])
    func words(_ inserted: [String], _ expected: String) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<3, to: path)
            let all = try lines(path)
            try save(all[..<2] + inserted + all[2...], to: path)
            #expect(try AuditVerification([path]).verifier.findings.map(\.words) == [expected])
            // At the end too, where more than one line is no torn one.
            try save(all + inserted + ["z"], to: path)
            #expect(try AuditVerification([path]).problems == ["foreign 5"])
        }
    }

    @Test("Compressed files are checked as others are, and damaged ones give a finding")
    func compressed() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<2000, to: path)
            let compressed = "\(folder)/copy.gz"
            try GZipBlocks.compress(path, to: compressed)
            #expect(try AuditVerification([compressed]).isIntact)
            #expect(try AuditVerification([compressed]).verifier.lines == 2001)
            let data = try Data(contentsOf: URL(fileURLWithPath: compressed))
            try data.dropLast(2000).write(to: URL(fileURLWithPath: "\(folder)/cut.gz"))
            let cut = try AuditVerification(["\(folder)/cut.gz"])
            #expect(cut.problems.contains { $0.hasPrefix("unreadable") })
            var damaged = data
            for index in 2000..<2100 { damaged[index] ^= 0x55 }
            try damaged.write(to: URL(fileURLWithPath: "\(folder)/damaged.gz"))
            #expect(try !AuditVerification(["\(folder)/damaged.gz"]).isIntact)
        }
    }

    @Test("A gzip bomb ends the reading of its file with a finding")
    func bomb() async throws {
        try await withFolder { folder in
            let path = "\(folder)/zeros"
            let handle = FileManager.default.createFile(atPath: path, contents: nil)
            #expect(handle)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: 200 << 20)
            try file.close()
            try GZipBlocks.compress(path, to: "\(folder)/bomb.gz")
            let verification = try AuditVerification(["\(folder)/bomb.gz"])
            #expect(
                verification.verifier.findings.contains { $0.words.contains("expands to more than 250 times its size") }
            )
        }
    }
}
