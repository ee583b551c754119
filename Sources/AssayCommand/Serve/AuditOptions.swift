internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayRecords
internal import AssayReload
internal import Logging
internal import ServiceLifecycle

/// Whether and where decisions are put on record.
struct AuditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file that receives one JSON line for each decision, or - for standard output; reopened on SIGHUP. May be given \
            several times.
            """, valueName: "file"), completion: .file())
    var audit: [String] = []

    @Flag(
        help: """
            Answer with "unavailable", and report "not ready", while audit records cannot be written. Without this, \
            decisions go on; /readyz, /metrics and the log report the loss.
            """)
    var auditRequired = false

    @Option(
        help:
            "Rotate an audit file before it is larger, such as 256M. By default another program may rename it and send SIGHUP.",
        valueName: "size", reading: .size(65_536...(1 << 40)))
    var auditRotateSize: ByteCount?

    @Option(
        help: "Rotate an audit file when its first line is older, such as 1d.", valueName: "duration",
        reading: .duration(.seconds(60)...Duration.seconds(366 * 86_400)))
    var auditRotateAge: Duration?

    @Option(
        help: "How many rotated files of each audit file are kept; by default all.", valueName: "number",
        reading: .number(1...100_000))
    var auditKeep: Int?

    @Flag(help: "Compress rotated audit files with gzip.")
    var auditCompress = false

    private static let limit = 8

    func validate() throws {
        if auditRequired, audit.isEmpty { throw ValidationError("--audit-required needs --audit FILE") }
        guard audit.count <= Self.limit else { throw ValidationError("--audit may be given \(Self.limit) times") }
        guard Set(audit).count == audit.count else { throw ValidationError("--audit has the same file twice") }
        let rotates = auditRotateSize != nil || auditRotateAge != nil
        if rotates, audit.isEmpty {
            throw ValidationError("--audit-rotate-size and --audit-rotate-age need --audit FILE")
        }
        if !rotates, auditKeep != nil || auditCompress {
            throw ValidationError("--audit-keep and --audit-compress need --audit-rotate-size or --audit-rotate-age")
        }
    }

    /// Whether standard output is for audit records.
    var usesStandardOutput: Bool { audit.contains("-") }

    /// - Throws: `AuditError` when a file cannot be opened.
    func open(_ host: PluginHost) throws -> [AuditFile] {
        var options = AuditFile.Options()
        options.rotation = AuditRotation(
            size: auditRotateSize?.bytes, age: auditRotateAge, keep: auditKeep, compresses: auditCompress)
        return try audit.map {
            try AuditFile(path: $0, logger: host.logger, meter: host.meter, clock: host.clock, options: options)
        }
    }

    /// What keeps the engine from deciding.
    func blockingReason(_ files: [AuditFile]) -> (@Sendable () -> String?)? {
        guard auditRequired, !files.isEmpty else { return nil }
        return {
            for file in files {
                if let reason = file.blockingReason { return reason }
            }
            return nil
        }
    }

    /// What `/readyz` asks.
    func checks(_ files: [AuditFile]) -> [@Sendable () async -> Readiness] {
        files.map { file in { file.readiness } }
    }

    /// The records that callers may look up: those of the first file that has a name.
    ///
    /// Devices and pipes cannot be read again.
    func archive(_ clock: HostClock) -> AuditArchive? {
        let path = audit.first { $0 != "-" && !$0.hasPrefix("/dev/") && !$0.hasPrefix("/proc/") }
        return path.map { AuditArchive([$0], clock: clock) }
    }

    /// What runs as long as the server does.
    func services(_ files: [AuditFile], _ archive: AuditArchive?, _ logger: Logger) -> [any Service] {
        files.map { AuditService(file: $0) } + (archive.map { [ArchiveService(archive: $0, logger: logger)] } ?? [])
    }

    /// The files that are opened again on SIGHUP, so that they can be rotated by renaming them.
    func subjects(_ files: [AuditFile]) -> [ReloadSubject] {
        guard !files.isEmpty else { return [] }
        return [
            ReloadSubject("audit file", action: .reopen) {
                var failure: AuditError?
                for file in files {
                    do throws(AuditError) { try file.reopen() } catch { failure = failure ?? error }
                }
                if let failure { throw failure }
                return ["file": "\(files.map(\.path).joined(separator: ", "))"]
            }
        ]
    }
}
