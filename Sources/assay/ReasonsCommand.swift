internal import ArgumentParser
internal import AssayEngine
internal import AssayKit

/// `assay reasons`.
struct ReasonsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reasons", abstract: "List the reasons for which evidence and tokens are refused.",
        discussion: "Their codes stand in logs and in the output of `assay verify`; they never change their meaning.")

    func run() throws {
        let reasons = try Plugins.registry().reasons
        let width = reasons.map(\.code.count).max() ?? 0
        for reason in reasons {
            let space = String(repeating: " ", count: width - reason.code.count + 2)
            try Terminal.say(reason.code + space + reason.summary)
        }
    }
}
