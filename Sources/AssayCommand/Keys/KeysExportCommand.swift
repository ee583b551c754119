internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayServices

/// `assay keys export`.
struct KeysExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print the public keys that verify tokens.",
        discussion: """
            The active and prepared signing keys, and retired ones whose tokens may be valid: the content of \
            `/v1/jwks`, for programs that cannot fetch it. As `jwks` it is one object in one line (RFC 7517), as `pem` \
            one block for each key (RFC 7468), the newest first. A KID that begins with a hyphen is written after --.
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Option(help: "The output format.")
    var format = PublicKeyFormat.jwks

    @Argument(help: "This key only, as `\(AssayProgram.current.name) keys list` calls it.")
    var kid: String?

    func run() async throws {
        let keys = try await folder.run { [kid] (store, now) throws(KeyError) in try store.published(kid, now: now) }
        switch format {
        case .jwks: try Terminal.say(String(decoding: JWKSet(keys).json.encoded, as: UTF8.self))
        case .pem:
            for key in keys {
                let lines = String(decoding: try key.publicKey.pem(), as: UTF8.self).split(separator: "\n")
                for line in lines { try Terminal.say(String(line)) }
            }
        }
    }
}

/// How public keys are printed.
enum PublicKeyFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case jwks
    case pem
}
