#if AppAttest
internal import ArgumentParser
internal import AssayAppAttest
internal import AssayCommand
internal import AssayCore

/// `assay verify app-attest`.
struct VerifyAppAttestCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "app-attest",
            abstract: "Verify stored App Attest attestations, assertions and receipts.",
            discussion: """
                Each FILE holds one JSON object:

                  kind                     attestation, assertion or receipt
                  attestation_base64, assertion_base64 or receipt_base64
                                           the evidence, in Base64
                  app_id                   TEAM.bundle, such as ABCDE12345.com.example.app
                  client_data_hash_base64 or client_data_hash_hex
                                           what the client gave as client data hash, of any length; in its place:
                  challenge_utf8 or challenge_base64
                                           the raw challenge, which is hashed with SHA-256
                  client_data_utf8 or client_data_base64
                                           the raw client data of an assertion, which is hashed with SHA-256
                  client_data_hash_is      `sha256(challenge)` (the default), or `challenge`: the challenge itself is the \
                client data hash, as in Apple's own samples

                Attestations have also:

                  key_id_base64 or key_id_hex
                                           the key identifier; 64 hexadecimal digits are taken under both names
                  environment              development or production; without it, both are accepted
                  valid_at                 when to verify, such as 2026-12-31T23:59:59Z (also for receipts)

                Assertions have also:

                  public_key_pem           the attested key: PEM of a SubjectPublicKeyInfo on P-256
                  previous_counter         0 to 4294967295; 0 when it is absent

                One line of JSON is written for each, in order: `verdict` (verified or refused), `reason` (see \
                `\(program) reasons`), `detail` with what was expected and what was found, and what was read off the evidence; \
                `file`, or `line` in a batch, tells which it is of. `warnings` has what is wrong without deciding the \
                verdict: a receipt that is refused where --require-receipt is not given. The reason is `sample_unreadable` or \
                `sample_malformed` where nothing could be verified. Exits with 0 when all are verified, with 1 when any is \
                refused, and with 2 when a file or line could not be read or is not of this form.
                """)
    }

    @OptionGroup var input: SampleInput

    @Option(
        help: ArgumentHelp(
            "Trust this certificate (PEM or DER) instead of Apple's App Attest root.", valueName: "file"))
    var trustAnchor: String?

    @Option(
        help: ArgumentHelp(
            "Trust this certificate (PEM or DER) instead of Apple's root of receipts.", valueName: "file"))
    var receiptTrustAnchor: String?

    @Flag(help: "Refuse an attestation whose receipt is refused; otherwise that is a warning.")
    var requireReceipt = false

    @Flag(
        help: """
            Write for people instead of JSON: each check in its order, with the expected and the found value, and \
            whether it passed, failed or was not reached.
            """)
    var explain = false

    func run() throws {
        let samples: AppAttestSamples
        do {
            samples = try AppAttestSamples(
                trustAnchor: trustAnchor.map { (file) throws(FileError) in try LineReader.contents(of: file) },
                receiptTrustAnchor: receiptTrustAnchor.map { (file) throws(FileError) in
                    try LineReader.contents(of: file)
                }, at: input.at, requiresReceipt: requireReceipt)
        } catch let error as FileError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        } catch {
            let anchors = [trustAnchor, receiptTrustAnchor].compactMap(\.self).joined(separator: ", ")
            Terminal.report("\(anchors): \(error)")
            throw ExitCode.couldNotRun
        }
        try SampleRun(explains: explain, judge: { try samples.verify($0, place: $1) }).run(input)
    }
}
#endif
