/// Waits for work that must be done, at the end of a process, but not longer than a limit.
///
/// The work is done also when the caller's task is cancelled. Work that ignores its own cancellation continues alone.
///
/// - Returns: whether the work ended in time.
package func waiting(
    atMost limit: Duration, clock: HostClock, for work: @escaping @Sendable () async -> Void
) async -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
    // Not of the caller's task, whose cancellation would end the wait at once.
    return await Task {
        let working = Task {
            await work()
            end.yield(true)
        }
        let timer = Task {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            end.yield(false)
        }
        let isDone = await ends.first { _ in true } ?? false
        timer.cancel()
        if !isDone { working.cancel() }
        return isDone
    }.value
}
