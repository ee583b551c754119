public import ArgumentParser
public import AssayCore

/// A subcommand that a plugin brings, for ``AssayProgram/commands``.
///
/// The subcommand is a command of swift-argument-parser. It finds the program's name and registry in
/// ``AssayProgram/current``, writes with ``Terminal``, and ends with one of the exit codes of this module.
public struct PluginCommand: Sendable {
    enum Place: Sendable {
        case top
        case verification
    }

    let place: Place
    let type: any ParsableCommand.Type
    /// Why a newcomer begins with it; nil for most commands.
    let invitation: String?
    /// The reasons in its output that no provider and no consumer has.
    let reasons: [Reason]
    /// What explains captured evidence of a provider; nil for a command that explains none.
    var explainer: EvidenceExplainer?

    var name: String { type.configuration.commandName ?? "\(type)" }

    /// A subcommand of the program itself: `PROGRAM NAME`.
    ///
    /// - Parameters:
    ///   - type: the subcommand.
    ///   - invitation: why a newcomer begins with this command, in lower case and without a full stop; the program's help
    ///     says it.
    public static func command<C: ParsableCommand>(_ type: C.Type, invitation: String? = nil) -> PluginCommand {
        PluginCommand(place: .top, type: type, invitation: invitation, reasons: [])
    }

    /// A subcommand that verifies kept evidence offline: `PROGRAM verify NAME`.
    ///
    /// - Parameters:
    ///   - type: the subcommand.
    ///   - reasons: the reasons in its output that no provider has, for `PROGRAM reasons`.
    ///   - explainer: what explains captured evidence of a provider, for `PROGRAM verify record`.
    public static func verification<C: ParsableCommand>(
        _ type: C.Type, reasons: [Reason] = [], explaining explainer: EvidenceExplainer? = nil
    ) -> PluginCommand {
        PluginCommand(
            place: .verification, type: type, invitation: nil, reasons: reasons, explainer: explainer)
    }
}

/// `assay verify`: the group of the plugins' ``PluginCommand/verification(_:)`` commands.
struct VerifyCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "verify", abstract: "Verify evidence offline.", subcommands: subcommands)
    }

    static var subcommands: [any ParsableCommand.Type] {
        AssayProgram.current.commands.filter { $0.place == .verification }.map(\.type) + [VerifyRecordCommand.self]
    }
}

extension ExitCode {
    /// 1: something was refused, or a check found a problem.
    public static let refused = ExitCode(1)
    /// 2: the command could not run: wrong usage, an unreadable file, a port that is in use.
    public static let couldNotRun = ExitCode(2)
}
