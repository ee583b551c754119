internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServer
internal import AssayYAML
internal import Logging

/// The policies of a folder, checked with the plugins of the program; their secrets are not read.
struct CheckedPolicies {
    let directory: String
    /// As they come into force: with what apps share merged into their sections.
    let policies: PolicySet
    let registry: Registry

    /// Runs `body` with the policies of a folder, while the plugins' processes run that its `plugins.yaml` names.
    ///
    /// - Throws: `ExitCode.couldNotRun` for policies with errors, which are reported.
    static func with<Result>(_ folder: String, _ body: (CheckedPolicies) async throws -> Result) async throws -> Result
    {
        let directory = PolicyDirectory(folder)
        let made: Result?
        do {
            made = try await PluginProcesses.with(in: directory) { registry in
                let policies = directory.read()
                do throws(Diagnostics) {
                    try policies.check(registry, host: host(WithheldSecrets()))
                } catch {
                    report(error, in: folder)
                    return nil
                }
                return try await body(
                    CheckedPolicies(directory: folder, policies: registry.effective(policies), registry: registry))
            }
        } catch let problems as Diagnostics {
            report(problems, in: folder)
            made = nil
        }
        guard let made else { throw ExitCode.couldNotRun }
        return made
    }

    /// A host for checks.
    ///
    /// - Parameter withheld: what lists secrets that are not read; nil to read them.
    static func host(_ withheld: WithheldSecrets?) -> PluginHost {
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        var host = PluginHost(store: MemoryStore(clock: .system), logger: logger)
        if let withheld { host.secrets = .withholding(withheld) }
        return host
    }

    private static func report(_ problems: Diagnostics, in folder: String) {
        for problem in problems.all { Terminal.note(problem.description) }
        Terminal.report(
            "the policies in \(folder) have errors: see `\(AssayProgram.current.name) policy check \(folder)`")
    }
}
