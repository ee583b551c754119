#if AppAttest || AndroidKey
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore

/// Which samples of evidence are verified, and when.
struct SampleInput: ParsableArguments {
    @Argument(help: "Files with one JSON object each; `-` is standard input.", completion: .file(extensions: ["json"]))
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read one JSON object per line, and skip blank lines; `-` is standard input.", valueName: "file"))
    var batch: String?

    @Option(
        help: ArgumentHelp(
            "Verify at this time (RFC 3339, such as 2026-12-31T23:59:59Z) instead of each file's `valid_at`.",
            valueName: "time"),
        transform: Self.time)
    var at: Instant?

    func validate() throws {
        guard files.isEmpty != (batch == nil) else {
            throw ValidationError("give either files or --batch")
        }
    }

    private static func time(_ text: String) throws -> Instant {
        guard let instant = Instant(rfc3339: text) else {
            throw ValidationError("`\(text)` is not a time: write it as 2026-12-31T23:59:59Z")
        }
        return instant
    }
}

/// Verifies samples of evidence in files, or in the lines of one, and writes a line of JSON for each.
struct SampleRun {
    /// What is said of a sample: as JSON, and for people.
    typealias Outcome = (isVerified: Bool, report: JSON, explanation: String)

    let explains: Bool
    /// Verifies a sample; the place is what names it if it has no name.
    let judge: (_ sample: JSON, _ place: String) throws -> Outcome
    private var refused = false
    private var couldNotRun = false

    init(explains: Bool, judge: @escaping (_ sample: JSON, _ place: String) throws -> Outcome) {
        self.explains = explains
        self.judge = judge
    }

    private static let limits = JSON.Limits(bytes: 1 << 20, depth: 16, values: 10_000, allowsRepeatedNames: false)

    /// - Throws: the exit code: 1 when a sample is refused, 2 when one could not be verified at all.
    consuming func run(_ input: SampleInput) throws {
        do {
            if let batch = input.batch {
                let lines = try LineReader(batch)
                while let line = try lines.next() {
                    if let bytes = line.bytes {
                        try add(bytes, at: .line(line.number, of: batch))
                    } else {
                        let detail = "the line is longer than 1 MiB"
                        try fail(SampleReasons.malformed, detail, at: .line(line.number, of: batch))
                    }
                }
            }
            for file in input.files {
                let bytes: [UInt8]
                do throws(FileError) {
                    bytes = try LineReader.contents(of: file)
                } catch {
                    try fail(SampleReasons.unreadable, error.description, at: .file(file))
                    continue
                }
                try add(bytes, at: .file(file))
            }
        } catch let error as FileError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
        if couldNotRun { throw ExitCode.couldNotRun }
        if refused { throw ExitCode.refused }
    }

    /// Where a sample stands.
    private enum Place {
        case file(String)
        case line(Int, of: String)

        /// As a sample's report names it where the sample itself names no source.
        var source: String {
            switch self {
            case .file(let file): file
            case .line(let number, _): "line \(number)"
            }
        }

        /// As messages name it.
        var shown: String {
            switch self {
            case .file(let file): file
            case .line(let number, let file): "\(file.isExactly("-") ? "standard input" : file):\(number)"
            }
        }

        /// What every report begins with.
        var member: JSONMember {
            switch self {
            case .file(let file): JSONMember("file", .string(file))
            case .line(let number, _): JSONMember("line", .integer(Int64(number)))
            }
        }
    }

    private mutating func add(_ bytes: [UInt8], at place: Place) throws(OutputError) {
        let outcome: Outcome
        do {
            let sample = try JSON.parse(bytes, limits: Self.limits)
            outcome = try judge(sample, explains ? place.shown : place.source)
        } catch {
            try fail(SampleReasons.malformed, "\(error)", at: place)
            return
        }
        if !outcome.isVerified { refused = true }
        if explains { try Terminal.say(outcome.explanation) } else { try write(outcome.report, place) }
    }

    /// Puts a sample on record that could not be verified at all: a reader finds a line for each.
    private mutating func fail(_ reason: Reason, _ detail: String, at place: Place) throws(OutputError) {
        couldNotRun = true
        Terminal.report("\(place.shown): \(detail)")
        guard !explains else { return }
        let report: JSON = [
            "source": .string(place.source), "kind": nil, "verdict": "refused", "reason": .string(reason.code),
            "detail": .string(detail),
        ]
        try write(report, place)
    }

    private func write(_ report: JSON, _ place: Place) throws(OutputError) {
        let line = JSON.object([place.member] + (report.members ?? []))
        try Terminal.say(String(decoding: line.encoded, as: UTF8.self))
    }
}
#endif
