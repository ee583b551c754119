import ArgumentParser
import AssayCommand
import AssayCore

/// `till-server till-key`.
struct TillKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "till-key", abstract: "Make a key for a till, and print what goes into a policy for it.")

    @Argument(help: "What the till calls itself.")
    var name: String

    func run() throws {
        guard name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            Terminal.report("the name of a till has letters, digits and hyphens")
            throw ExitCode.couldNotRun
        }
        try Terminal.say("# the key: \(Hex.encode(Randomness.system.bytes(32)))")
        try Terminal.say("- {name: \(name), key: file:\(name).key}")
    }
}
