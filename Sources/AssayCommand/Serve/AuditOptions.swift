internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import AssayKit
internal import AssayReload
internal import Logging
internal import ServiceLifecycle

/// Whether and where decisions are put on record.
struct AuditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file that receives one JSON line for each decision; reopened on SIGHUP.", valueName: "file"),
        completion: .file())
    var audit: String?

    @Flag(
        help: """
            Answer with "unavailable", and report "not ready", while audit records cannot be written. Without this, \
            decisions go on; /readyz, /metrics and the log report the loss.
            """)
    var auditRequired = false

    func validate() throws {
        if auditRequired, audit == nil { throw ValidationError("--audit-required needs --audit FILE") }
    }

    /// - Throws: `AuditError` when the file cannot be opened.
    func open(_ host: PluginHost) throws -> AuditFile? {
        try audit.map { try AuditFile(path: $0, logger: host.logger, meter: host.meter, clock: host.clock) }
    }

    /// What keeps the engine from deciding.
    func blockingReason(_ file: AuditFile?) -> (@Sendable () -> String?)? {
        guard auditRequired, let file else { return nil }
        return { file.blockingReason }
    }

    /// What `/readyz` asks.
    func checks(_ file: AuditFile?) -> [@Sendable () async -> Readiness] {
        guard let file else { return [] }
        return [{ file.readiness }]
    }

    /// What runs as long as the server does.
    func services(_ file: AuditFile?, _ logger: Logger) -> [any Service] {
        guard let file else { return [] }
        return [AuditService(file: file)]
    }

    /// The file that is opened again on SIGHUP, so that it can be rotated by renaming it.
    func subjects(_ file: AuditFile?) -> [ReloadSubject] {
        guard let file else { return [] }
        return [
            ReloadSubject("audit file", action: .reopen) {
                try file.reopen()
                return ["file": "\(file.path)"]
            }
        ]
    }
}
