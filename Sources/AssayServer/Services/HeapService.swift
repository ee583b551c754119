internal import AssayHTTPServer
internal import ServiceLifecycle

/// Gives memory back to the system after many connections or large requests: the allocator keeps it otherwise.
struct HeapService: Service {
    /// What the listeners hold.
    let budget: TransportBudget

    /// How often it looks: a flood that is shorter is not seen.
    private static let interval = Duration.milliseconds(250)

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var peak = MemoryPeak()
            while true {
                try await Task.sleep(for: Self.interval)
                if peak.hasPassed(held: budget.bytes) { Heap.trim() }
            }
        }
    }
}

/// The most that was held since memory was last given back.
struct MemoryPeak {
    /// How many bytes less must be held, so that giving them back is worth the time of the processor.
    static let worthwhile = 32 << 20

    private var most = 0

    /// Whether much less is held than before.
    ///
    /// Once it was said, what is held now counts.
    mutating func hasPassed(held: Int) -> Bool {
        most = max(most, held)
        guard most - held >= Self.worthwhile else { return false }
        most = held
        return true
    }
}
