internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto

/// `assay policy bundle`.
struct BundleCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "bundle", abstract: "Sign policies, for servers that fetch them from a URL.",
            discussion: """
                A bundle is one file of policies with a version, signed as a JWS (RFC 7515). Upload it to any web server, and \
                start servers with `\(program) serve --policies https://policies.example.com/assay.bundle --bundle-key FILE`. They \
                accept no bundle that another key signed, and none that is older than one that was in force. To go back to \
                earlier policies, sign them again: that makes a greater version.

                Example:
                  \(program) policy bundle keygen policies.key > policies.pub
                  \(program) policy bundle create --key policies.key --out assay.bundle policies
                  \(program) policy bundle verify --key policies.pub assay.bundle
                """,
            subcommands: [BundleCreateCommand.self, BundleVerifyCommand.self, BundleKeygenCommand.self])
    }
}

/// `assay policy bundle keygen`.
struct BundleKeygenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen", abstract: "Make the key pair that signs and verifies bundles.",
        discussion: """
            Writes the private key to FILE, a new file with the mode 0600 (PKCS #8 in PEM, P-256), and prints the public \
            key in PEM, for `serve --bundle-key`. The key's identifier, which bundles have as `kid`, goes to standard error.

            Keep the private key where policies are approved, and not on the web server or the servers: anyone who has it \
            decides what all servers accept. Servers of different stages should have different keys: a bundle does not say which \
            servers it is for.
            """)

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
