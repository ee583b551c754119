internal import AssayServices
internal import Logging
internal import ServiceLifecycle

/// Keeps the indexes of the audit files up to date, so that look-ups over HTTP read little.
struct ArchiveService: Service {
    let archive: AuditArchive
    let logger: Logger

    private static let interval = Duration.seconds(60)

    func run() async {
        await cancelWhenGracefulShutdown {
            repeat {
                do {
                    try await archive.index()
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("the audit files cannot be indexed", metadata: ["error": "\(error)"])
                }
            } while (try? await Task.sleep(for: Self.interval)) != nil
        }
    }
}
