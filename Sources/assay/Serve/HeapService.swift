internal import AssayHTTP
internal import ServiceLifecycle

/// Gives memory back to the system after many connections or large requests: the allocator keeps it otherwise.
struct HeapService: Service {
    /// What the listeners hold.
    let budget: TransportBudget
    /// How often it looks.
    var interval = Duration.seconds(5)
    /// How much less must be held than before, in bytes, so that it is worth the time of the processor.
    var worthwhile = 32 << 20
    var trim: @Sendable () -> Void = Heap.trim

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var most = 0
            while true {
                try await Task.sleep(for: interval)
                let held = budget.bytes
                most = max(most, held)
                guard most - held >= worthwhile else { continue }
                trim()
                most = held
            }
        }
    }
}
