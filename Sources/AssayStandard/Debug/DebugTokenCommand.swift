#if DebugTokens
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayDebug

/// `assay debug-token`.
struct DebugTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug-token", abstract: "Make a debug token, and print its entry for a policy.",
        discussion: "The token itself is for the developer's device only: anyone who knows it can get App Check tokens."
    )

    @Option(help: "The name of the token in logs.")
    var name = "a developer's device"

    @Option(help: "An existing token, for example one that an SDK printed.")
    var token: String?

    func validate() throws {
        if let token, token.utf8.count < 16 {
            throw ValidationError("a debug token has 16 characters or more; SDKs make UUIDs")
        }
        guard (1...100).contains(name.utf8.count) else {
            throw ValidationError("a debug token's name has 1 to 100 bytes")
        }
    }

    func run() throws {
        let token = token ?? DebugTokenCommand.uuid()
        try Terminal.say("# the token: \(token)")
        try Terminal.say("- name: \(String(decoding: JSON.string(name).encoded, as: UTF8.self))")
        try Terminal.say("  sha256: \(DebugTokenCommand.hash(of: token))")
    }

    /// The SHA-256 of a token in hexadecimal digits, as a policy has it.
    static func hash(of token: String) -> String { Hex.encode(DebugToken.hash(of: token)) }

    /// A random UUID in upper case, as Apple's SDK prints its own.
    static func uuid() -> String { UUID4.text(.system).uppercased() }
}
#endif
