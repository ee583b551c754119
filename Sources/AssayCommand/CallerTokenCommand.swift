internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// `assay caller-token`.
struct CallerTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "caller-token",
        abstract: "Make a bearer token for a caller, and print its entry for a policy.",
        discussion: """
            The token itself is for the caller only, which sends it as `Authorization: Bearer TOKEN`; the policy has \
            its SHA-256. A hash does not show whether its token can be guessed, so use a token of this command.

            A token begins with `assay_ct_` and ends with a checksum: a truncated or mistyped one is recognised, and \
            programs that search text for secrets find it.
            """)

    @Option(help: "The name of the caller in audit records.")
    var name = "administrator"

    @Option(help: "The caller's permission; give it several times for several permissions.")
    var permission = ["admin"]

    func validate() throws {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isOfName) else {
            throw ValidationError("a caller's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`")
        }
        let known = try AssayProgram.current.registry().permissions.map(\.name).sortedExactly()
        for name in permission where !known.contains(exactly: name) {
            throw ValidationError("unknown permission '\(name)'; known are \(known.joined(separator: ", "))")
        }
    }

    func run() throws {
        let token = CallerToken.make()
        try Terminal.say("# the token: \(token)")
        try Terminal.say("\(name):")
        try Terminal.say("  sha256: \(CallerToken.hash(of: token))")
        try Terminal.say("  permissions: [\(permission.joined(separator: ", "))]")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-._@".utf8.contains(byte)
    }
}
