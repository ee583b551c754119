internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayHosting

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
    case unreadable(String)
    /// A record of this decision came before: files overlap, or a folder and a file in it were named.
    case repeated
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
                    try await body(.unreadable("\(place): the line is longer than 4 MiB"))
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
                    record = .unreadable("\(place): \(SafeText.of(error.message))")
                }
                try await body(record)
            }
        }
    }
}
