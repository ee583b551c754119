internal import AssayEngine
internal import AssayServices
internal import ServiceLifecycle

/// Deletes captured evidence that is too old, and at the end writes what still waits.
///
/// It comes before all that makes decisions among the services, and so ends after them.
struct EvidenceService: Service {
    let folder: EvidenceFolder
    let engine: Engine

    func run() async {
        await cancelWhenGracefulShutdown {
            repeat { engine.tidyEvidence() } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
        // Also when the group is cancelled, because another service failed.
        try? await gracefulShutdown()
        await folder.close()
    }
}
