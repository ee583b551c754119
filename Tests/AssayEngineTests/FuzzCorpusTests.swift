import Foundation
import FuzzEntries
import Testing

/// The corpora of the fuzzers, which also hold what once made one of them stop.
@Suite("Corpora of the fuzzers")
struct FuzzCorpusTests {
    /// A file of a corpus, named `good-…` or `bad-CODE` or `bad-CODE-…`.
    struct Entry: Sendable, CustomTestStringConvertible {
        let target: FuzzTarget
        let file: URL
        var name: String { file.lastPathComponent }
        var testDescription: String { "\(target.rawValue)/\(name)" }
        var input: [UInt8] { get throws { [UInt8](try Data(contentsOf: file)) } }

        /// The verdict in the name; nil in another name than these.
        var verdict: FuzzVerdict? {
            let words = name.split(separator: "-").map(String.init)
            return switch (words.first, words.dropFirst().first) {
            case ("good", _?): .accepted
            case ("bad", let code?): .refused(code)
            default: nil
            }
        }
    }

    private static let corpora = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fuzz/Corpora")

    static let entries = FuzzTarget.allCases.flatMap { target in
        let folder = corpora.appendingPathComponent(target.rawValue)
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).map { Entry(target: target, file: $0) }.sorted { $0.name < $1.name }
    }

    @Test("An input is judged as its name says", arguments: entries)
    func verdict(_ entry: Entry) async throws {
        #expect(try await entry.target.judge(entry.input) == entry.verdict)
    }

    @Test("Every target has inputs that it accepts and some that it refuses", arguments: FuzzTarget.allCases)
    func bothVerdicts(_ target: FuzzTarget) {
        let verdicts = Self.entries.filter { $0.target == target }.map(\.verdict)
        #expect(verdicts.contains(.accepted))
        #expect(verdicts.contains { verdict in if case .refused = verdict { true } else { false } })
    }

    /// What a fuzzer does in its first second: no change of one byte may stop the process or break a promise.
    @Test("An input with a byte changed or its end cut off is judged too", arguments: entries)
    func nearby(_ entry: Entry) async throws {
        let input = try entry.input
        let isExhaustive = ProcessInfo.processInfo.environment["ASSAY_EXHAUSTIVE"] != nil
        let step = isExhaustive ? 1 : max(1, input.count / 16)
        for index in stride(from: 0, to: input.count, by: step) {
            for bit in isExhaustive ? 0..<8 : index % 8..<index % 8 + 1 {
                var changed = input
                changed[index] ^= UInt8(truncatingIfNeeded: 1 << bit)
                _ = try await entry.target.judge(changed)
            }
            _ = try await entry.target.judge(Array(input.prefix(index)))
        }
    }
}
