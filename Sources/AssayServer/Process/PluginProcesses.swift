internal import AssayCore
package import AssayEngine
package import AssayKit
package import AssayPolicy
internal import AssayYAML
package import Logging

#if Processes
internal import AssayProcesses
#endif

/// The plugins of a command that run in processes of their own, as `plugins.yaml` in a folder of policies names them.
///
/// A build without the package trait `Processes` refuses such a file.
package struct PluginProcesses: Sendable {
    private let directory: PolicyDirectory?
    private let loaded: FileFingerprint
    #if Processes
    private let processes: ProcessPlugins
    #endif

    /// Starts the processes that the folder names, and returns when each of them answers or has failed.
    ///
    /// - Parameters:
    ///   - directory: nil for no folder, and no processes.
    ///   - checksOnly: whether policies will only be checked.
    /// - Throws: `Diagnostics` when the file is wrong.
    package static func start(
        in directory: PolicyDirectory?, checksOnly: Bool = true, logger: Logger
    ) async throws -> PluginProcesses {
        let loaded = fingerprint(directory)
        #if Processes
        let file = try directory.flatMap { directory throws(Diagnostics) in try PluginsFile.read(in: directory) }
        let processes = await ProcessPlugins.start(file?.plugins ?? [], checksOnly: checksOnly, logger: logger)
        return PluginProcesses(directory: directory, loaded: loaded, processes: processes)
        #else
        if let path = directory?.pluginsPath {
            throw Diagnostics(
                Diagnostic(
                    file: path, location: nil,
                    message: "this program was built without plugins in other processes (the package trait Processes)"))
        }
        return PluginProcesses(directory: directory, loaded: loaded)
        #endif
    }

    /// The plugins for the registry.
    package var plugins: [Plugin] {
        #if Processes
        processes.plugins
        #else
        []
        #endif
    }

    /// The conformance suites of the plugins; none in a build without simulated devices.
    package func suites() async -> [any ConformanceSuite] {
        #if Processes && Simulator
        await processes.suites()
        #else
        []
        #endif
    }

    /// Ends the processes.
    package func stop() async {
        #if Processes
        await processes.stop()
        #endif
    }

    /// Says in the log and in the readiness that a changed file takes effect at the next start only.
    var subject: ReloadSubject {
        let (directory, loaded) = (directory, loaded)
        return ReloadSubject("plugins", fingerprint: { Self.fingerprint(directory) }, loaded: loaded) {
            let present = Self.fingerprint(directory)
            // Where the folder cannot be read, the policies say so.
            guard let directory, present != loaded, present.isKnown else { return nil }
            throw ChangedPlugins(path: directory.possiblePluginsPath)
        }
    }

    private static func fingerprint(_ directory: PolicyDirectory?) -> FileFingerprint {
        FileFingerprint(of: directory.map { [$0.possiblePluginsPath] } ?? [])
    }

    private struct ChangedPlugins: Error, CustomStringConvertible {
        let path: String

        var description: String { "\(path) was changed, which takes effect when the server is started again" }
    }
}
