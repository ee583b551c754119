internal import ArgumentParser
internal import AssayCore
internal import AssayServer
internal import AssayServices

/// Whether and where decisions are put on record.
struct AuditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file that receives one JSON line for each decision, or - for standard output; reopened on SIGHUP and SIGUSR1. May be given \
            several times.
            """, valueName: "file"), completion: .file())
    var audit: [String] = []

    @Flag(
        help: """
            Answer with "unavailable", and report "not ready", while audit records cannot be written. Without this, \
            decisions continue; /readyz, /metrics and the log report the loss.
            """)
    var auditRequired = false

    @Option(
        help:
            "Rotate an audit file before it is larger, such as 256M. By default another program may rename it and send SIGUSR1.",
        valueName: "size", reading: .size(65_536...(1 << 40)))
    var auditRotateSize: ByteQuantity?

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

    var files: AuditFiles {
        var files = AuditFiles()
        files.paths = audit
        files.isRequired = auditRequired
        files.rotation = AuditRotation(
            size: auditRotateSize?.bytes, age: auditRotateAge, keep: auditKeep, compresses: auditCompress)
        return files
    }
}
