#if Simulator
internal import NIOCore

/// The measured phase and the warm-up before it.
///
/// It is used on its event loop alone.
final class LoadDriver {
    /// The phases of a run.
    struct Times: Sendable {
        let warmUp: Duration
        let duration: Duration
        /// How long an answer is waited for.
        let timeout: Duration
    }

    /// How the measured phase ended.
    struct Outcome: Sendable {
        var tally: LoadTally
        /// How long it lasted.
        var seconds: Double
        /// Why it ended early; nil when it did not.
        var endedEarly: String?
        var generator: LoadUsage
        var server: LoadUsage?
    }

    private let pool: LoadPool
    private var stock: LoadStock
    private var pacer: LoadPacer
    private let times: Times
    private let server: LoadProcess?
    private let promise: EventLoopPromise<Outcome>
    private let onSecond: (LoadTally) -> Void

    private var tally = LoadTally()
    private let measured: UInt64
    private let end: UInt64
    private var endTime: UInt64?
    private var endedEarly: String?
    private var generatorBefore: LoadUsage.Reading?
    private var serverBefore: LoadUsage.Reading?
    private var generator = LoadUsage()
    private var serverUsage: LoadUsage?
    private var timer: Scheduled<Void>?
    private var isComplete = false

    /// Makes a run that begins at once.
    ///
    /// - Parameters:
    ///   - server: the server's process, whose use of the processor is reported.
    ///   - onSecond: called each second with what was counted.
    init(
        _ pool: LoadPool, _ stock: LoadStock, _ pace: LoadPacer.Pace, _ mix: LoadMix, _ times: Times,
        server: LoadProcess?, onSecond: @escaping (LoadTally) -> Void
    ) {
        self.pool = pool
        self.stock = stock
        self.times = times
        self.server = server
        self.onSecond = onSecond
        promise = pool.eventLoop.makePromise()
        let now = NIODeadline.now().uptimeNanoseconds
        measured = now + Self.nanoseconds(times.warmUp)
        end = measured + Self.nanoseconds(times.duration)
        pacer = LoadPacer(pace, mix, start: now)
    }

    /// Runs to the end.
    func run() -> EventLoopFuture<Outcome> {
        pool.onIdle = { [unowned self] in pump() }
        let loop = pool.eventLoop.assumeIsolated()
        loop.scheduleTask(deadline: .uptimeNanoseconds(measured)) { [self] in
            generatorBefore = .ownProcess()
            serverBefore = server?.reading()
        }
        loop.scheduleTask(deadline: .uptimeNanoseconds(end)) { [self] in finish(early: nil) }
        everySecond()
        pump()
        return promise.futureResult
    }

    /// Ends the measured phase, and waits for answers no longer than usual.
    func stop() { finish(early: "it was interrupted") }

    private func everySecond() {
        pool.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [self] in
            guard !isComplete else { return }
            pool.closeSilent(since: .now() - TimeAmount(times.timeout))
            if endTime == nil { onSecond(tally) }
            everySecond()
        }
    }

    /// Sends what is due and can be sent.
    private func pump() {
        guard endTime == nil else { return complete() }
        let now = NIODeadline.now()
        pacer.advance(to: now.uptimeNanoseconds)
        while pacer.isReady, endTime == nil {
            guard let connection = pool.take() else {
                pool.openMore()
                break
            }
            guard let arrival = pacer.next(at: now.uptimeNanoseconds) else { break }
            send(arrival, on: connection, at: now)
        }
        if let due = pacer.nextDue, timer == nil {
            timer = pool.eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(due)) { [self] in
                timer = nil
                pump()
            }
        }
    }

    private func send(_ arrival: LoadPacer.Arrival, on connection: LoadConnection, at now: NIODeadline) {
        let method = arrival.method
        guard let pick = stock.next(method, at: now) else {
            // Before the connection is free, which would have the next call sent.
            pacer.ended()
            finish(early: "the prepared requests of '\(method.rawValue)' ran out")
            return pool.release(connection)
        }
        let isMeasured = arrival.due >= measured
        if isMeasured {
            tally[method].sent += 1
            tally[method].due += 1
            if now.uptimeNanoseconds - min(arrival.due, now.uptimeNanoseconds) > 1_000_000 { tally[method].late += 1 }
        }
        connection.send(pick.request) { [self, unowned connection] result in
            ended(arrival, pick, result, isMeasured: isMeasured)
            pool.release(connection)
        }
    }

    private func ended(
        _ arrival: LoadPacer.Arrival, _ pick: LoadStock.Pick, _ result: Result<LoadReply, LoadFailure>, isMeasured: Bool
    ) {
        let now = NIODeadline.now().uptimeNanoseconds
        pacer.ended()
        let method = arrival.method
        var isAccepted = false
        var problem: LoadTally.Problem?
        switch result {
        case .failure(let failure):
            problem = .init(method: method, status: 0, words: Array(failure.description.utf8))
        case .success(let reply):
            isAccepted = Self.isAccepted(reply, method, isReplay: pick.isReplay)
            if !isAccepted { problem = .init(method: method, status: reply.status, words: reply.body) }
            let isInTime = now >= measured && endTime == nil
            if isInTime {
                if isAccepted { tally[method].acceptedInTime += 1 } else { tally[method].refusedInTime += 1 }
            }
        }
        stock.ended(pick, method: method, isAccepted: isAccepted)
        if pick.isReplay, case .success(let reply) = result, reply.isSuccess {
            // Counted in the warm-up too: it must never happen.
            if isAccepted { tally[method].replaysRefused += 1 } else { tally[method].replaysAccepted += 1 }
        }
        guard isMeasured else { return }
        let latency = (now - min(arrival.due, now)) / 1000
        if isAccepted {
            tally[method].accepted += 1
            tally[method].latency.record(latency)
        } else if problem?.status == 0 {
            tally[method].lost += 1
        } else {
            tally[method].refused += 1
            tally[method].refusal.record(latency)
        }
        if let problem { tally.count(problem) }
    }

    /// Whether a reply is what was asked for; a replay must be told that the token was used.
    private static func isAccepted(_ reply: LoadReply, _ method: LoadMethod, isReplay: Bool) -> Bool {
        guard method == .consume else { return reply.isSuccess }
        // The reply to the first use is an empty object.
        return reply.isSuccess && (reply.body.count > 4) == isReplay
    }

    private func finish(early reason: String?) {
        guard endTime == nil else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        endTime = now
        endedEarly = reason
        if let generatorBefore { generator = LoadUsage(from: generatorBefore, to: .ownProcess()) }
        if let serverBefore, let after = server?.reading() { serverUsage = LoadUsage(from: serverBefore, to: after) }
        for arrival in pacer.stop() where arrival.due >= measured { tally[arrival.method].due += 1 }
        timer?.cancel()
        pool.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(times.timeout)) { [self] in
            pool.closeSilent(since: .now())
            complete(atOnce: true)
        }
        complete()
    }

    private func complete(atOnce: Bool = false) {
        guard let endTime, !isComplete, atOnce || pacer.inFlight == 0 else { return }
        isComplete = true
        pool.onIdle = {}
        promise.succeed(
            Outcome(
                tally: tally, seconds: endTime > measured ? Double(endTime - measured) / 1e9 : 0,
                endedEarly: endedEarly,
                generator: generator, server: serverUsage))
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        UInt64(max(0, TimeAmount(duration).nanoseconds))
    }
}
#endif
