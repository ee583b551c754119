#if Simulator
internal import AssayCommand
internal import AssayCore
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// What a load is made of.
struct LoadPlan: Sendable {
    let requests: LoadRequests
    let devices: LoadDevices
    let amounts: LoadPreparation.Amounts
    let pace: LoadPacer.Pace
    let mix: LoadMix
    let times: LoadDriver.Times
    let connections: Int
    let replays: Double
    let server: LoadProcess?
}

/// One run from the first connection to the result.
///
/// All connections are on one event loop, which is all that the measured phase uses: so a result's percentage of a core says how
/// close the generator is to its own limit.
final class LoadRun: Sendable {
    private struct Parts {
        let caller: LoadCaller
        var driver: LoadDriver?
    }

    private let plan: LoadPlan
    private let isInteractive: Bool
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let parts = Mutex<NIOLoopBoundBox<Parts>?>(nil)
    private let stopped = Atomic(false)

    /// - Parameter isInteractive: whether progress is shown.
    init(_ plan: LoadPlan, isInteractive: Bool) {
        self.plan = plan
        self.isInteractive = isInteractive
    }

    /// Prepares, and runs to the end.
    ///
    /// - Throws: a ``LoadFailure`` when the server cannot be used.
    func run() async throws -> LoadDriver.Outcome {
        do {
            let outcome = try await prepareAndDrive()
            try await group.shutdownGracefully()
            return outcome
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// Ends the run as soon as possible, with the result of what was done.
    func stop() {
        guard !stopped.exchange(true, ordering: .relaxed) else { return }
        guard let parts = parts.withLock({ $0 }) else { return }
        group.any().execute {
            parts.value.caller.close()
            parts.value.driver?.stop()
        }
    }

    private func prepareAndDrive() async throws -> LoadDriver.Outcome {
        let loop = group.any()
        let plan = plan
        let parts = try await loop.submit {
            let pool = LoadPool(plan.requests.target, connections: plan.connections, eventLoop: loop)
            return (
                NIOLoopBound(pool, eventLoop: loop), NIOLoopBoundBox(Parts(caller: LoadCaller(pool)), eventLoop: loop)
            )
        }.get()
        let (pool, box) = parts
        self.parts.withLock { $0 = box }
        let preparation = LoadPreparation(
            requests: plan.requests, devices: plan.devices, amounts: plan.amounts, replays: plan.replays
        ) { request in
            let promise = loop.makePromise(of: LoadReply.self)
            loop.execute { box.value.caller.call(request, promise) }
            return try await promise.futureResult.get()
        }
        let stock: LoadStock
        do {
            stock = try await preparation.run { Terminal.note($0) }
        } catch {
            try await loop.submit { pool.value.close() }.get()
            guard stopped.load(ordering: .relaxed) else { throw error }
            throw LoadFailure("interrupted while the load was prepared; nothing was measured")
        }
        try await connect(pool, loop)
        return try await loop.flatSubmit { [self] in
            let driver = LoadDriver(
                pool.value, stock, plan.pace, plan.mix, plan.times, server: plan.server, onSecond: live())
            box.value.driver = driver
            let outcome = driver.run()
            // A stop that came between the preparation and now.
            if stopped.load(ordering: .relaxed) { driver.stop() }
            return outcome.always { _ in
                box.value.driver = nil
                pool.value.close()
            }
        }.get()
    }

    /// Opens all connections, so that the measured phase opens none.
    private func connect(_ pool: NIOLoopBound<LoadPool>, _ loop: any EventLoop) async throws {
        let limit = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < limit, !stopped.load(ordering: .relaxed) {
            let open = try await loop.submit { [plan] in
                // Not all at once, which would overflow the server's backlog.
                pool.value.open(min(plan.connections, pool.value.openCount + 128))
                return pool.value.openCount
            }.get()
            if open >= plan.connections { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        let open = try await loop.submit { pool.value.openCount }.get()
        Terminal.note("\(open) of \(plan.connections) connections are open")
    }

    /// Shows what happened in each second.
    private func live() -> (LoadTally) -> Void {
        guard isInteractive else { return { _ in } }
        var second = 0
        var before = LoadTally()
        return { tally in
            second += 1
            Terminal.note(LoadText.live(second, before, tally))
            before = tally
        }
    }
}
#endif
