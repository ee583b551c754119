#if AndroidKey
internal import ArgumentParser
internal import AssayAndroidKey
internal import AssayCommand
internal import AssayCore
internal import AssayCrypto

/// `assay verify android-key`.
struct VerifyAndroidKeyCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "android-key",
            abstract: "Verify stored certificates of Android keys.",
            discussion: """
                Each FILE holds one JSON object:

                  chain_base64 or chain_pem
                                           the certificates, the key's own first: a list of texts in Base64, or one text in PEM
                  package                  the app's package, such as com.example.app
                  signing_digests          the SHA-256 of each certificate that the app may be signed with, in hexadecimal
                  challenge_base64 or challenge_utf8
                                           the challenge that the key was made for
                  valid_at                 when to verify, such as 2026-12-31T23:59:59Z

                They are judged as a policy does whose section `android_key` is empty. There are two differences: keys of every kind are \
                verified, and revoked certificates are looked for in the list of --revoked alone.

                One line of JSON is written for each, in order: `verdict` (verified or refused), `reason` (see \
                `\(program) reasons`), `detail` with both values, and `facts`; `file`, or `line` in a batch, tells which it is of. \
                Exits with 0 when all are verified, with 1 when any is refused, and with 2 when a file or line could not be read or is \
                not of this form.
                """)
    }

    @OptionGroup var input: SampleInput

    @Option(help: ArgumentHelp("Trust these certificates (PEM) instead of Google's roots.", valueName: "file"))
    var roots: String?

    @Option(
        help: ArgumentHelp(
            "Refuse certificates of this list of revoked ones, as Google publishes it.", valueName: "file"))
    var revoked: String?

    func run() throws {
        let samples: AndroidKeySamples
        do {
            let anchors = try roots.map { file in
                try PEM.blocks("CERTIFICATE", in: LineReader.contents(of: file)).map { try TrustAnchor(der: $0) }
            }
            let list = try revoked.map { try RevocationList(json: LineReader.contents(of: $0)) }
            samples = try AndroidKeySamples(roots: anchors, revoked: list, at: input.at)
        } catch let error as FileError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        } catch {
            Terminal.report("\([roots, revoked].compactMap(\.self).joined(separator: ", ")): \(error)")
            throw ExitCode.couldNotRun
        }
        let run = SampleRun(explains: false) { sample, _ in
            let (isVerified, report) = try samples.verify(sample)
            return (isVerified, report, "")
        }
        try run.run(input)
    }
}
#endif
