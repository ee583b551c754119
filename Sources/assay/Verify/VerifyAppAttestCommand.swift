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

            One line of JSON is written for each, in order. Exits with 0 when all are verified, with 1 when any is \
            refused, and with 2 when a file could not be read or is not of this form.
            """)

    @Argument(help: "Files of one JSON object each.")
    var files: [String] = []

    @Option(
        help: ArgumentHelp("Read one JSON object a line; `-` is standard input.", valueName: "file"))
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
        } catch {
            Terminal.complain("assay: \(error)")
            throw ExitCode.couldNotRun
        }
        var tally = Tally()
        do {
            if let batch {
                let lines = try LineReader(batch)
                var number = 0
                while let line = try lines.next() {
                    number += 1
                    tally.add(verify, line, place: "line \(number)", file: nil)
                }
            }
            for file in files {
                do throws(FileError) {
                    tally.add(verify, try LineReader.contents(of: file), place: file, file: file)
                } catch {
                    Terminal.complain("assay: \(error)")
                    tally.couldNotRun = true
                }
            }
        } catch {
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

        mutating func add(_ verify: Plugins.SampleVerifier, _ bytes: [UInt8], place: String, file: String?) {
            do {
                let sample = try JSON.parse(bytes, limits: VerifyAppAttestCommand.limits)
                let (isVerified, report) = try verify(sample, place)
                if !isVerified { refused = true }
                let members = file.map { [JSONMember("file", .string($0))] } ?? []
                write(.object(members + (report.members ?? [])))
            } catch {
                couldNotRun = true
                Terminal.complain("assay: \(place): \(error)")
                write([
                    "source": .string(place), "kind": nil, "verdict": "refused", "reason": "sample_malformed",
                    "detail": .string("\(error)"),
                ])
            }
        }

        private func write(_ line: JSON) {
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
