internal import ArgumentParser
internal import AssayKit

/// `assay debug-token`.
struct DebugTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug-token", abstract: "Make a debug token, and print what goes into a policy for it.",
        discussion: "The token itself is for the developer's device only: anybody who knows it gets App Check tokens.")

    @Option(help: "What the token is called in logs.")
    var name = "a developer's device"

    @Option(help: "A token that exists already, such as an SDK printed it.")
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
        try Terminal.say("  sha256: \(Plugins.debugTokenHash(token))")
    }

    /// A random UUID (RFC 9562, version 4) in upper case, as Apple's SDK prints its own.
    static func uuid() -> String {
        var bytes = Randomness.system.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hex.encode(bytes).uppercased())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
