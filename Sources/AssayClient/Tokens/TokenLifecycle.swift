/// What is known of one app's tokens and what is to be done next: events in, effects out.
///
/// It reads no clock, sends nothing and waits for nothing. `TokenDriver` carries its effects out, in order.
struct TokenLifecycle: Sendable {
    /// What a fetch is for.
    enum Purpose: Sendable, Equatable {
        /// The stored token, if there is one.
        case restore
        /// A session token for all that wait for one.
        case session
        /// A token for one use by one caller.
        case limitedUse(UInt64)
    }

    struct Fetch: Sendable, Equatable {
        let id: UInt64
        let purpose: Purpose
        let started: Moment
        /// When it is given up: after its limit, or when the one caller that it is for has waited for as long.
        let until: Moment
    }

    enum Effect: Sendable {
        /// Start a fetch, and report its end by ``finished(_:_:at:jitter:)``.
        case begin(Fetch)
        /// Cancel a fetch, whose end is of no interest any more.
        case abandon(UInt64)
        /// Resume a caller.
        case answer(UInt64, Result<AppCheckToken, AppCheckError>)
        /// Tell all listeners.
        case publish(Result<AppCheckToken, AppCheckError>)
        /// Call ``wake(at:jitter:)`` at this moment, and at no earlier one that was set before.
        case setTimer(Moment?)
    }

    private struct Caller: Sendable {
        let id: UInt64
        var isForced = false
        /// When it waits no more, whatever others wait for before it.
        let until: Moment
    }

    private(set) var token: AppCheckToken?
    private(set) var running: Fetch?
    private let rules: TokenRules
    /// Whether storage was not looked into yet.
    private var canRestore: Bool
    private var callers: [Caller] = []
    private var limitedUse: [Caller] = []
    private var fetches: UInt64 = 0
    private var lastStart: Moment?
    private var listeners = 0
    private var failures = 0
    private var retryAt: Moment?
    /// Until when nothing is sent, and why.
    private var pause: (until: Moment, error: AppCheckError)?
    private var timer: Moment?

    init(rules: TokenRules = TokenRules(), canRestore: Bool) {
        self.rules = rules
        self.canRestore = canRestore
    }

    /// The token, while it may be given out.
    func usable(at now: Moment) -> AppCheckToken? {
        guard let token, now < token.expires - rules.margin else { return nil }
        return token
    }

    // MARK: Events

    /// A caller wants a token.
    mutating func want(_ caller: UInt64, isForced: Bool, at now: Moment) -> [Effect] {
        if !isForced, let token = usable(at: now) { return [.answer(caller, .success(token))] }
        let joins = running.map { $0.purpose == .session } ?? false
        if !joins, let error = paused(at: now) { return [.answer(caller, .failure(error))] }
        guard hasRoom else { return [.answer(caller, .failure(Self.crowded))] }
        callers.append(Caller(id: caller, isForced: isForced, until: now + rules.fetchLimit))
        return proceed(at: now)
    }

    /// A caller wants a token for one use.
    mutating func wantLimitedUse(_ caller: UInt64, at now: Moment) -> [Effect] {
        if let error = paused(at: now) { return [.answer(caller, .failure(error))] }
        guard hasRoom else { return [.answer(caller, .failure(Self.crowded))] }
        limitedUse.append(Caller(id: caller, until: now + rules.fetchLimit))
        return proceed(at: now)
    }

    /// A caller waits no more; a fetch that runs continues, since others may wait for it.
    mutating func leave(_ caller: UInt64, at now: Moment) -> [Effect] {
        callers.removeAll { $0.id == caller }
        limitedUse.removeAll { $0.id == caller }
        return proceed(at: now)
    }

    /// Somebody listens.
    mutating func listen(at now: Moment) -> [Effect] {
        listeners += 1
        return proceed(at: now)
    }

    /// A listener stops; without listeners nothing is refreshed.
    mutating func unlisten(at now: Moment) -> [Effect] {
        listeners = max(listeners - 1, 0)
        return proceed(at: now)
    }

    /// The moment of the timer has come.
    mutating func wake(at now: Moment, jitter: Double) -> [Effect] {
        timer = nil
        let ended = running.flatMap { $0.until <= now ? $0 : nil }
        var effects = answerLate(\.limitedUse, at: now)
        // Those that wait for the fetch that ends are told so.
        if ended?.purpose != .session { effects += answerLate(\.callers, at: now) }
        guard let running = ended else { return effects + proceed(at: now) }
        let abandoned = effects + [.abandon(running.id)]
        if case .limitedUse(let caller) = running.purpose, now < running.started + rules.fetchLimit {
            // It says nothing of the server that the caller had waited for others.
            self.running = nil
            return abandoned + [.answer(caller, .failure(late))] + proceed(at: now)
        }
        let error = AppCheckError(
            .timedOut, "The provider did not finish within \(rules.fetchLimit). The next call tries again.")
        return abandoned + finished(running.id, .failure(error), at: now, jitter: jitter)
    }

    /// A fetch has ended; one that was abandoned is ignored.
    ///
    /// - Parameter outcome: nil in a success is for storage without a token.
    mutating func finished(
        _ id: UInt64, _ outcome: Result<AppCheckToken?, AppCheckError>, at now: Moment, jitter: Double
    ) -> [Effect] {
        guard let fetch = running, fetch.id == id else { return [] }
        running = nil
        if fetch.purpose == .restore {
            canRestore = false
            if case .success(let restored?) = outcome { token = restored }
            let published = usable(at: now).map { [Effect.publish(.success($0))] } ?? []
            return answerUnforced(at: now) + published + proceed(at: now)
        }
        var effects: [Effect]
        switch outcome {
        case .success(let token?) where now < token.expires: effects = succeeded(fetch, token)
        case .success:
            effects = failed(
                fetch,
                AppCheckError(
                    .expiredOnArrival,
                    "The token had ended when it arrived: the device slept meanwhile, or the server's lifetimes are too "
                        + "short. Call again."), at: now, jitter: jitter)
        case .failure(let error): effects = failed(fetch, error, at: now, jitter: jitter)
        }
        effects += proceed(at: now)
        return effects
    }
}

extension TokenLifecycle {
    private static let crowded = AppCheckError(
        .tooManyCallers, "Too many callers wait for a token. Share one token between requests.")

    private var hasRoom: Bool { callers.count + limitedUse.count < rules.callerLimit }

    private var late: AppCheckError {
        AppCheckError(
            .timedOut,
            "No token came within \(rules.fetchLimit), since others were waited for before. The next call tries again.")
    }

    /// Callers that have waited for long enough.
    private mutating func answerLate(_ waiting: WritableKeyPath<TokenLifecycle, [Caller]>, at now: Moment) -> [Effect] {
        let waited = self[keyPath: waiting].filter { $0.until <= now }
        if !waited.isEmpty { self[keyPath: waiting].removeAll { $0.until <= now } }
        return waited.map { .answer($0.id, .failure(late)) }
    }

    private func paused(at now: Moment) -> AppCheckError? {
        guard let pause, now < pause.until else { return nil }
        var error = pause.error
        error.retryAfter = pause.until - now
        return error
    }

    private mutating func answerUnforced(at now: Moment) -> [Effect] {
        guard let token = usable(at: now) else { return [] }
        let answered = callers.filter { !$0.isForced }
        callers.removeAll { !$0.isForced }
        return answered.map { .answer($0.id, .success(token)) }
    }

    private mutating func answerAll(_ result: Result<AppCheckToken, AppCheckError>) -> [Effect] {
        defer { callers = [] }
        return callers.map { .answer($0.id, result) }
    }

    private mutating func succeeded(_ fetch: Fetch, _ token: AppCheckToken) -> [Effect] {
        failures = 0
        retryAt = nil
        pause = nil
        guard case .limitedUse(let caller) = fetch.purpose else {
            self.token = token
            return answerAll(.success(token)) + [.publish(.success(token))]
        }
        return [.answer(caller, .success(token))]
    }

    private mutating func failed(
        _ fetch: Fetch, _ error: AppCheckError, at now: Moment, jitter: Double
    ) -> [Effect] {
        failures = min(failures + 1, 64)
        retryAt = now + rules.retry(after: failures)
        pause = rules.pause(after: error, failures: failures, jitter: jitter).map { (now + $0, error) }
        // The message says how long to wait also to those who waited for this fetch.
        let error = paused(at: now) ?? error
        var effects: [Effect]
        if case .limitedUse(let caller) = fetch.purpose {
            effects = [.answer(caller, .failure(error))]
        } else {
            effects = answerAll(.failure(error)) + [.publish(.failure(error))]
        }
        guard pause != nil else { return effects }
        // Nobody waits through a pause.
        effects += answerAll(.failure(error))
        effects += limitedUse.map { .answer($0.id, .failure(error)) }
        limitedUse = []
        return effects
    }

    /// Starts what can be started, and sets the timer.
    private mutating func proceed(at now: Moment) -> [Effect] {
        var effects: [Effect] = []
        if running == nil, let (purpose, until) = nextPurpose(at: now) {
            fetches += 1
            let fetch = Fetch(id: fetches, purpose: purpose, started: now, until: until)
            running = fetch
            if purpose == .session { lastStart = now }
            effects.append(.begin(fetch))
        }
        let ends = (callers + limitedUse).map(\.until)
        let next = running.map { ends.reduce($0.until, min) } ?? refreshTime(at: now)
        if next != timer {
            timer = next
            effects.append(.setTimer(next))
        }
        return effects
    }

    /// What is fetched next, and until when.
    private mutating func nextPurpose(at now: Moment) -> (Purpose, until: Moment)? {
        let isDue = refreshTime(at: now).map { $0 <= now } ?? false
        // All callers are answered by one fetch, and so tokens for one use wait for one of them at most.
        if !callers.isEmpty || isDue { return (canRestore ? .restore : .session, now + rules.fetchLimit) }
        guard !limitedUse.isEmpty else { return nil }
        let caller = limitedUse.removeFirst()
        return (.limitedUse(caller.id), caller.until)
    }

    /// When a token is to be fetched without a caller; nil while nobody listens.
    private func refreshTime(at now: Moment) -> Moment? {
        guard listeners > 0 else { return nil }
        let earliest = [lastStart.map { $0 + rules.refreshDistance }, retryAt, pause?.until].compactMap { $0 }.max()
        guard let token else { return earliest ?? now }
        let planned = rules.refresh(of: token)
        return max(planned, earliest ?? planned)
    }
}
