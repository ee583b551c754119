internal import AssayEngine
internal import AssayServices
internal import ServiceLifecycle

/// Keeps an audit file until the end, and then writes what still waits.
///
/// It comes first among the services, and so ends last: when no more decisions are made.
struct AuditService: Service {
    let file: AuditFile

    func run() async {
        // Also when the group is cancelled, because another service failed.
        try? await gracefulShutdown()
        await file.close()
    }
}
