internal import AssayKit

/// A handler whose readiness is that of the kernel and of what runs beside it.
struct ReportingHandler: CallHandler {
    let handler: any CallHandler
    let checks: [@Sendable () -> Readiness]

    var methods: [MethodDescriptor] { handler.methods }

    func handle(_ call: Call) async -> Reply { await handler.handle(call) }

    var readiness: Readiness {
        get async { .combined([await handler.readiness] + checks.map { $0() }) }
    }
}
