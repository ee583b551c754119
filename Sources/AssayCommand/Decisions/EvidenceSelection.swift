internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayServices

/// Which captured evidence is read, and the key to it.
struct EvidenceSelection: ParsableArguments {
    @Option(
        help: ArgumentHelp("The private key, in PEM, in a file for this user only.", valueName: "file"))
    var key: String

    @Option(help: ArgumentHelp("Only this decision.", valueName: "id"))
    var decision: String?

    /// Whether a line is wanted, by what it has in clear.
    func wants(_ line: EvidenceLine) -> Bool {
        decision.map { line.decision.isExactly($0) } ?? true
    }
}

/// A record that could be read, or why it could not.
enum EvidenceRecord {
    case evidence(CapturedEvidence)
    /// Its place, and what is wrong with it.
    case unreadable(place: String, problem: String)
    /// A record of this decision came before: files overlap, or a folder and a file in it were named.
    case repeated
}

/// Records that could not be read: each problem once, with the place of the first record and the number of the others.
struct UnreadableRecords: Sendable {
    private(set) var count = 0
    private var problems: [(text: ExactText, place: String, count: Int)] = []
    /// So many different problems are kept.
    private static let limit = 20

    mutating func add(_ problem: String, at place: String) {
        count += 1
        if let index = problems.firstIndex(where: { $0.text == ExactText(problem) }) {
            problems[index].count += 1
        } else if problems.count < Self.limit {
            problems.append((ExactText(problem), place, 1))
        }
    }

    /// One line for each problem, and one for records with others.
    var lines: [String] {
        let lines = problems.map { problem in
            let others = problem.count - 1
            return "\(problem.place)\(others > 0 ? " and \(others.counting("other record"))" : ""): \(problem.text)"
        }
        let rest = count - problems.reduce(0) { $0 + $1.count }
        return rest == 0 ? lines : lines + ["\(rest.counting("further record")) cannot be read for other reasons"]
    }
}

extension EvidencePaths {
    /// How many decisions are remembered, to notice repeated records.
    static let rememberedDecisions = 4_000_000

    /// Reads all records that are wanted, one after the other.
    ///
    /// A repeated one is given as such, as long as no more than ``rememberedDecisions`` came before.
    ///
    /// - Throws: when a file cannot be read; what `body` throws.
    func read(
        with key: PrivateKey, wants: (EvidenceLine) -> Bool, _ body: (EvidenceRecord) async throws -> Void
    ) async throws {
        var seen: Set<ExactText> = []
        for file in files {
            let lines = try EvidenceLineReader(file)
            while let line = try lines.next() {
                let place = "\(file):\(line.number)"
                guard let bytes = line.bytes else {
                    try await body(.unreadable(place: place, problem: "the line is longer than 4 MiB"))
                    continue
                }
                let record: EvidenceRecord
                do throws(EvidenceError) {
                    let parsed = try EvidenceLine(parsing: bytes)
                    guard wants(parsed) else { continue }
                    let evidence = try parsed.open(with: key)
                    let id = ExactText(evidence.decision.text)
                    if seen.contains(id) {
                        record = .repeated
                    } else {
                        if seen.count < Self.rememberedDecisions { seen.insert(id) }
                        record = .evidence(evidence)
                    }
                } catch {
                    record = .unreadable(place: place, problem: SafeText.of(error.message))
                }
                try await body(record)
            }
        }
    }
}
