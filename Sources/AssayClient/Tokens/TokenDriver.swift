/// Carries out what a ``TokenLifecycle`` decides: starts fetches, resumes callers, tells listeners, sets the timer.
///
/// One lock guards the decisions, in the order in which events come. Fetches run in tasks of the driver's own, so that
/// the cancellation of a caller cancels no fetch.
final class TokenDriver: Sendable {
    typealias Update = Result<AppCheckToken, AppCheckError>
    typealias Perform = @Sendable (TokenLifecycle.Fetch) async -> Result<AppCheckToken?, AppCheckError>

    private typealias Caller = CheckedContinuation<Update, Never>

    private struct State: Sendable {
        var lifecycle: TokenLifecycle
        var lastID: UInt64 = 0
        /// Callers whose continuation does not exist yet.
        var arriving: Set<UInt64> = []
        var callers: [UInt64: Caller] = [:]
        var listeners: [UInt64: AsyncStream<Update>.Continuation] = [:]
        var fetches: [UInt64: Task<Void, Never>] = [:]
        var timer: Task<Void, Never>?

        mutating func newID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    /// A caller to resume when the lock is open again.
    private struct Resumption: Sendable {
        let caller: Caller
        let result: Update
    }

    private let clock: any ClientClock
    private let perform: Perform
    private let state: Lock<State>

    init(lifecycle: TokenLifecycle, clock: any ClientClock, perform: @escaping Perform) {
        self.clock = clock
        self.perform = perform
        state = Lock(State(lifecycle: lifecycle))
    }

    deinit {
        state.withLock { state in
            state.timer?.cancel()
            for task in state.fetches.values { task.cancel() }
            for listener in state.listeners.values { listener.finish() }
        }
    }

    /// The token in memory, while it may be given out: one look at the clock, one lock.
    func usable() -> AppCheckToken? {
        let now = clock.now
        return state.withLock { $0.lifecycle.usable(at: now) }
    }

    nonisolated(nonsending) func token(isForced: Bool) async throws(AppCheckError) -> AppCheckToken {
        try await answer { lifecycle, caller, now in lifecycle.want(caller, isForced: isForced, at: now) }
    }

    nonisolated(nonsending) func limitedUseToken() async throws(AppCheckError) -> AppCheckToken {
        try await answer { lifecycle, caller, now in lifecycle.wantLimitedUse(caller, at: now) }
    }

    /// A stream of updates, which begins with the present token if there is one.
    func listen() -> AsyncStream<Update> {
        let id = state.withLock { $0.newID() }
        // The newest update is kept for a listener that is slow.
        let (stream, continuation) = AsyncStream.makeStream(of: Update.self, bufferingPolicy: .bufferingNewest(1))
        continuation.onTermination = { [weak self] _ in
            self?.handle { state, now in
                guard state.listeners.removeValue(forKey: id) != nil else { return [] }
                return state.lifecycle.unlisten(at: now)
            }
        }
        handle { state, now in
            state.listeners[id] = continuation
            if let token = state.lifecycle.usable(at: now) { continuation.yield(.success(token)) }
            return state.lifecycle.listen(at: now)
        }
        return stream
    }

    // MARK: Callers

    private nonisolated(nonsending) func answer(
        _ want: @escaping @Sendable (inout TokenLifecycle, UInt64, Moment) -> [TokenLifecycle.Effect]
    ) async throws(AppCheckError) -> AppCheckToken {
        let id = state.withLock { state in
            let id = state.newID()
            state.arriving.insert(id)
            return id
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (caller: Caller) in
                var isCancelled = false
                handle { state, now in
                    guard state.arriving.remove(id) != nil else {
                        isCancelled = true
                        return []
                    }
                    state.callers[id] = caller
                    return want(&state.lifecycle, id, now)
                }
                if isCancelled { caller.resume(returning: .failure(.cancelled)) }
            }
        } onCancel: {
            cancel(id)
        }
        return try result.get()
    }

    private func cancel(_ id: UInt64) {
        let now = clock.now
        let (caller, resumptions) = state.withLock { state -> (Caller?, [Resumption]) in
            state.arriving.remove(id)
            guard let caller = state.callers.removeValue(forKey: id) else { return (nil, []) }
            return (caller, carryOut(state.lifecycle.leave(id, at: now), in: &state))
        }
        caller?.resume(returning: .failure(.cancelled))
        resume(resumptions)
    }

    // MARK: Effects

    private func handle(_ event: (inout State, Moment) -> [TokenLifecycle.Effect]) {
        let now = clock.now
        resume(state.withLock { state in carryOut(event(&state, now), in: &state) })
    }

    private func resume(_ resumptions: [Resumption]) {
        for resumption in resumptions { resumption.caller.resume(returning: resumption.result) }
    }

    private func carryOut(_ effects: [TokenLifecycle.Effect], in state: inout State) -> [Resumption] {
        var resumptions: [Resumption] = []
        for effect in effects {
            switch effect {
            case .begin(let fetch):
                state.fetches[fetch.id] = Task {
                    let outcome = await self.perform(fetch)
                    self.finish(fetch, outcome)
                }
            case .abandon(let id): state.fetches.removeValue(forKey: id)?.cancel()
            case .answer(let id, let result):
                if let caller = state.callers.removeValue(forKey: id) {
                    resumptions.append(Resumption(caller: caller, result: result))
                }
            case .publish(let update):
                for listener in state.listeners.values { listener.yield(update) }
            case .setTimer(let moment):
                state.timer?.cancel()
                state.timer = moment.map { moment in
                    Task { [weak self, clock] in
                        guard (try? await clock.sleep(until: moment)) != nil, !Task.isCancelled else { return }
                        self?.wake()
                    }
                }
            }
        }
        return resumptions
    }

    private func finish(_ fetch: TokenLifecycle.Fetch, _ outcome: Result<AppCheckToken?, AppCheckError>) {
        handle { state, now in
            state.fetches[fetch.id] = nil
            return state.lifecycle.finished(fetch.id, outcome, at: now, jitter: .random(in: 0..<1))
        }
    }

    private func wake() {
        handle { state, now in state.lifecycle.wake(at: now, jitter: .random(in: 0..<1)) }
    }
}
