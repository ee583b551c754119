internal import ArgumentParser
internal import AssayKit

/// `assay verify app-attest`.
struct VerifyAppAttestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-attest", abstract: "Verify App Attest attestations, assertions and receipts that were kept.",
        discussion: """
            Each FILE holds one JSON object: `kind` (attestation, assertion or receipt), the object in \
            `attestation_base64`, `assertion_base64` or `receipt_base64`, and what it must agree with: `app_id` \
            (TEAM.bundle), `client_data_hash_base64`; for attestations `key_id_base64`, `environment` and `valid_at`; \
            for assertions `public_key_pem` and `previous_counter`.

            One line of JSON is written for each, in order; the reason is `sample_unreadable` or `sample_malformed` \
            where nothing could be verified. Exits with 0 when all are verified, with 1 when any is refused, and with \
            2 when a file or line could not be read or is not of this form.
            """)

    @Argument(help: "Files of one JSON object each; `-` is standard input.")
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read one JSON object a line, and pass over blank ones; `-` is standard input.", valueName: "file"))
    var batch: String?

    @Option(
        help: ArgumentHelp("Verify at this time (RFC 3339) in place of each file's `valid_at`.", valueName: "time"),
        transform: Self.time)
    var at: Instant?

    @Option(
        help: ArgumentHelp(
            "Trust this certificate (PEM or DER) in place of Apple's App Attest root.", valueName: "file"))
    var trustAnchor: String?

    @Option(help: ArgumentHelp("Trust this certificate in place of Apple's root of receipts.", valueName: "file"))
    var receiptTrustAnchor: String?

    @Flag(help: "Refuse an attestation whose receipt is not good.")
    var requireReceipt = false

    func validate() throws {
        guard files.isEmpty != (batch == nil) else {
            throw ValidationError("name either files or --batch")
        }
    }

    func run() throws {
        let verify: Plugins.SampleVerifier
        do {
            verify = try Plugins.appAttestSamples(
                trustAnchor: trustAnchor.map { (file) throws(FileError) in try LineReader.contents(of: file) },
                receiptTrustAnchor: receiptTrustAnchor.map { (file) throws(FileError) in
                    try LineReader.contents(of: file)
                }, at: at, requiresReceipt: requireReceipt)
        } catch let error as FileError {
            Terminal.complain("assay: \(error)")
            throw ExitCode.couldNotRun
        } catch {
            let anchors = [trustAnchor, receiptTrustAnchor].compactMap(\.self).joined(separator: ", ")
            Terminal.complain("assay: \(anchors): \(error)")
            throw ExitCode.couldNotRun
        }
        var tally = Tally()
        do {
            if let batch {
                let lines = try LineReader(batch)
                while let line = try lines.next() {
                    let place = "line \(line.number)"
                    if let bytes = line.bytes {
                        try tally.add(verify, bytes, place: place, file: nil)
                    } else {
                        let detail = "the line is longer than 1 MiB"
                        Terminal.complain("assay: \(place): \(detail)")
                        try tally.fail("sample_malformed", detail, place: place, file: nil)
                    }
                }
            }
            for file in files {
                let bytes: [UInt8]
                do throws(FileError) {
                    bytes = try LineReader.contents(of: file)
                } catch {
                    Terminal.complain("assay: \(error)")
                    try tally.fail("sample_unreadable", error.description, place: file, file: file)
                    continue
                }
                try tally.add(verify, bytes, place: file, file: file)
            }
        } catch let error as FileError {
            Terminal.complain("assay: \(error)")
            throw ExitCode.couldNotRun
        }
        if tally.couldNotRun { throw ExitCode.couldNotRun }
        if tally.refused { throw ExitCode.refused }
    }

    /// What came of all samples together.
    private struct Tally {
        var refused = false
        var couldNotRun = false

        mutating func add(
            _ verify: Plugins.SampleVerifier, _ bytes: [UInt8], place: String, file: String?
        ) throws(OutputError) {
            let outcome: (isVerified: Bool, report: JSON)
            do {
                outcome = try verify(try JSON.parse(bytes, limits: VerifyAppAttestCommand.limits), place)
            } catch {
                Terminal.complain("assay: \(place): \(error)")
                try fail("sample_malformed", "\(error)", place: place, file: file)
                return
            }
            if !outcome.isVerified { refused = true }
            try write(outcome.report, file: file)
        }

        /// Puts a sample on record that could not be verified at all: whoever reads finds a line for each.
        mutating func fail(_ reason: String, _ detail: String, place: String, file: String?) throws(OutputError) {
            couldNotRun = true
            let report: JSON = [
                "source": .string(place), "kind": nil, "verdict": "refused", "reason": .string(reason),
                "detail": .string(detail),
            ]
            try write(report, file: file)
        }

        private func write(_ report: JSON, file: String?) throws(OutputError) {
            let members = file.map { [JSONMember("file", .string($0))] } ?? []
            let line = JSON.object(members + (report.members ?? []))
            try Terminal.say(String(decoding: line.encoded, as: UTF8.self))
        }
    }

    private static let limits = JSON.Limits(bytes: 1 << 20, depth: 16, values: 10_000, allowsRepeatedNames: false)

    private static func time(_ text: String) throws -> Instant {
        guard let instant = Instant(rfc3339: text) else {
            throw ValidationError("`\(text)` is no time: write it as 2026-12-31T23:59:59Z")
        }
        return instant
    }
}
