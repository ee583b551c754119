internal import AssayEngine
internal import AssayPolicy
internal import AssayServer
internal import Logging

extension PluginProcesses {
    /// Runs `body` with the processes of a folder, and ends them.
    static func with<Result>(
        in directory: PolicyDirectory, _ body: (Registry) async throws -> Result
    ) async throws -> Result {
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        let processes = try await start(in: directory, logger: logger)
        do {
            let result = try await body(try AssayProgram.current.registry(with: processes.plugins))
            await processes.stop()
            return result
        } catch {
            await processes.stop()
            throw error
        }
    }
}
