internal import AssayEngine
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Opens the audit file anew on SIGHUP, so that it can be rotated by renaming it.
struct AuditRotation: Service {
    let file: AuditFile
    let logger: Logger

    func run() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do throws(AuditError) {
                try file.reopen()
                logger.info("the audit file was opened anew", metadata: ["file": "\(file.path)"])
            } catch {
                logger.error("the audit file stays as it is", metadata: ["error": "\"\(error)\""])
            }
        }
    }
}
