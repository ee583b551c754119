internal import AssayEngine
internal import AssayServices
internal import ServiceLifecycle

/// Passes sums of decisions on when their time has come, and what is left at the end.
///
/// It comes behind the audit file among the services, and so ends before it.
struct RecordService: Service {
    let decisions: [SampledDecisions]

    func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil { for sample in decisions { sample.flush() } }
        }
        for sample in decisions { sample.close() }
    }
}
