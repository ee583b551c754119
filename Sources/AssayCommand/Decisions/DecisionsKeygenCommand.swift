internal import ArgumentParser

/// `assay decisions keygen`.
struct DecisionsKeygenCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "keygen", abstract: "Make the key pair for captured evidence.",
            discussion: """
                Writes the private key to FILE, a new file with the mode 0600 (PKCS #8 in PEM, P-256), and prints the public \
                key in PEM, for `capture.public_key` in the policies. The key's identifier, which records have as `kid`, \
                goes to standard error.

                Make it on the machine where evidence is read, not on the server: anyone who has the private key can read what \
                clients sent. `\(program) decisions replay` and `\(program) verify record` take it with --key; other tools read \
                it, too: records are JWE (RFC 7516).
                """)
    }

    @Argument(help: "The new file of the private key.")
    var file: String

    func run() throws {
        do {
            try NewKeyPair.make(in: file)
        } catch let error as OutputError {
            throw error
        } catch {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
