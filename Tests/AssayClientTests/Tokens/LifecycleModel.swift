@testable import AssayClient

/// Drives a ``TokenLifecycle`` with random events, and checks each effect against rules that it keeps account of itself.
struct LifecycleModel {
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private struct Asked {
        let isLimitedUse: Bool
        let isForced: Bool
        let time: Moment
    }

    private var machine = TokenLifecycle(canRestore: true)
    private var random: SplitMix
    private var now = Moment(uptime: .seconds(1))
    private var timer: Moment?
    private var running: TokenLifecycle.Fetch?
    /// Fetches that were given up, whose end is still to come.
    private var abandoned: [UInt64] = []
    private var waiting: [UInt64: Asked] = [:]
    private var answered: Set<UInt64> = []
    private var left: Set<UInt64> = []
    private var lastCaller: UInt64 = 0
    private var lastToken = 0
    private var usedOnce: Set<String> = []
    private var forOneUse: Set<String> = []
    /// The token of the fetch that ends.
    private var fresh: String?
    private var listeners = 0
    private var lastSession: Moment?
    /// The moment before which a failure forbids to send anything.
    private var silentUntil: Moment?
    private var failures = 0
    private(set) var counts: [String: Int] = [:]

    init(seed: UInt64) {
        random = SplitMix(state: seed)
    }

    mutating func step() throws {
        switch random.below(20) {
        case 0..<5: try want(isForced: random.below(4) == 0)
        case 5..<7: try wantLimitedUse()
        case 7: try leave()
        case 8: try listen()
        case 9: try unlisten()
        case 10..<15: try finish()
        case 15: now = now + .seconds(Int64(random.below(4000)))
        case 16: try finishLate()
        default: now = now + .milliseconds(Int64(random.below(20_000)))
        }
        var wakes = 0
        while let timer, timer <= now {
            wakes += 1
            guard wakes < 10 else { throw Broken(description: "the timer is set to the present again and again") }
            try wake()
        }
        guard waiting.values.allSatisfy({ now < $0.time + .minutes(2) }) else {
            throw Broken(description: "a caller waits for more than its limit")
        }
    }

    /// From now on the server answers each fetch: all that wait must be answered.
    mutating func settle() throws {
        for _ in 0..<10_000 {
            guard running != nil else { break }
            try finish(isSuccess: true)
        }
        guard waiting.isEmpty else { throw Broken(description: "\(waiting.count) callers wait for ever") }
    }

    // MARK: Events

    private mutating func want(isForced: Bool) throws {
        lastCaller += 1
        waiting[lastCaller] = Asked(isLimitedUse: false, isForced: isForced, time: now)
        try take(machine.want(lastCaller, isForced: isForced, at: now))
    }

    private mutating func wantLimitedUse() throws {
        lastCaller += 1
        waiting[lastCaller] = Asked(isLimitedUse: true, isForced: false, time: now)
        try take(machine.wantLimitedUse(lastCaller, at: now))
    }

    private mutating func leave() throws {
        guard let caller = waiting.keys.min() else { return }
        waiting[caller] = nil
        left.insert(caller)
        try take(machine.leave(caller, at: now))
    }

    private mutating func listen() throws {
        listeners += 1
        try take(machine.listen(at: now))
    }

    private mutating func unlisten() throws {
        guard listeners > 0 else { return }
        listeners -= 1
        try take(machine.unlisten(at: now))
    }

    private mutating func wake() throws {
        timer = nil
        if let fetch = running, now >= fetch.started + .minutes(2) { note(failure: nil) }
        try take(machine.wake(at: now, jitter: share()))
    }

    private mutating func finish(isSuccess: Bool? = nil) throws {
        guard let fetch = running else { return }
        running = nil
        if fetch.purpose == .restore {
            let stored: AppCheckToken? = random.below(2) == 0 ? token(isLimitedUse: false) : nil
            return try take(machine.finished(fetch.id, .success(stored), at: now, jitter: share()))
        }
        guard isSuccess ?? (random.below(3) > 0) else {
            let error = failure()
            note(failure: error)
            return try take(machine.finished(fetch.id, .failure(error), at: now, jitter: share()))
        }
        let token = token(isLimitedUse: fetch.purpose != .session)
        fresh = token.text
        defer { fresh = nil }
        if token.expires > now {
            (failures, silentUntil) = (0, nil)
        } else {
            failures += 1
        }
        try take(machine.finished(fetch.id, .success(token), at: now, jitter: share()))
    }

    /// A fetch that was given up ends after all, which must have no effect.
    private mutating func finishLate() throws {
        guard let id = abandoned.popLast() else { return }
        counts["late", default: 0] += 1
        let effects = machine.finished(id, .success(token(isLimitedUse: false)), at: now, jitter: share())
        guard effects.isEmpty else { throw Broken(description: "an abandoned fetch has effects") }
    }

    // MARK: Effects

    private mutating func take(_ effects: [TokenLifecycle.Effect]) throws {
        for effect in effects {
            switch effect {
            case .begin(let fetch): try begin(fetch)
            case .abandon(let id):
                guard let fetch = running, fetch.id == id, isLate(fetch) else {
                    throw Broken(description: "a fetch is given up too early")
                }
                running = nil
                abandoned.append(id)
            case .answer(let caller, let result): try answer(caller, result)
            case .publish(let result):
                guard case .success(let token) = result else { continue }
                guard token.expires > now, !token.isLimitedUse else {
                    throw Broken(description: "listeners get \(token)")
                }
            case .setTimer(let moment): timer = moment
            }
        }
        if let timer, timer < now, running == nil { throw Broken(description: "the timer is set into the past") }
    }

    /// Whether a fetch, or the one caller that it is for, has had its time.
    private func isLate(_ fetch: TokenLifecycle.Fetch) -> Bool {
        if case .limitedUse(let caller) = fetch.purpose, let asked = waiting[caller], now >= asked.time + .minutes(2) {
            return true
        }
        return now >= fetch.started + .minutes(2) || isForOneThatLeft(fetch)
    }

    private func isForOneThatLeft(_ fetch: TokenLifecycle.Fetch) -> Bool {
        if case .limitedUse(let caller) = fetch.purpose { left.contains(caller) && fetch.until <= now } else { false }
    }

    private mutating func begin(_ fetch: TokenLifecycle.Fetch) throws {
        guard running == nil else { throw Broken(description: "two fetches at once") }
        running = fetch
        counts["\(fetch.purpose)".prefix { $0 != "(" }.description, default: 0] += 1
        if fetch.purpose == .restore { return }
        if let silentUntil, now < silentUntil { throw Broken(description: "sent within a pause") }
        switch fetch.purpose {
        case .limitedUse(let caller):
            guard waiting[caller]?.isLimitedUse == true || left.contains(caller) else {
                throw Broken(description: "a limited-use token for nobody")
            }
        default:
            if !waiting.values.contains(where: { !$0.isLimitedUse }) {
                counts["refresh", default: 0] += 1
                guard listeners > 0 else { throw Broken(description: "refreshed while nobody listens") }
                if let lastSession, now - lastSession < .seconds(60) {
                    throw Broken(description: "refreshed \(now - lastSession) after the last fetch")
                }
            }
            lastSession = now
        }
    }

    private mutating func answer(_ caller: UInt64, _ result: Result<AppCheckToken, AppCheckError>) throws {
        if left.contains(caller) { return }
        guard let asked = waiting.removeValue(forKey: caller), answered.insert(caller).inserted else {
            throw Broken(description: "caller \(caller) is answered twice")
        }
        guard case .success(let token) = result else {
            counts["errors", default: 0] += 1
            return
        }
        counts["answers", default: 0] += 1
        guard token.expires > now else { throw Broken(description: "an expired token") }
        guard token.isLimitedUse == asked.isLimitedUse, forOneUse.contains(token.text) == asked.isLimitedUse else {
            throw Broken(description: "a token of the wrong kind")
        }
        if asked.isLimitedUse, !usedOnce.insert(token.text).inserted {
            throw Broken(description: "a limited-use token was given twice")
        }
        // A token is given to those that waited for it whatever it has left; later it needs five minutes.
        if token.text == fresh { return }
        guard token.expires > now + .minutes(5) else {
            throw Broken(description: "a cached token with \(token.expires - now) left")
        }
        guard !asked.isForced else { throw Broken(description: "a forced refresh got a cached token") }
    }

    // MARK: The server

    private mutating func token(isLimitedUse: Bool) -> AppCheckToken {
        lastToken += 1
        let text = "token-\(lastToken)"
        if isLimitedUse { forOneUse.insert(text) }
        let lifetimes: [Int64] = isLimitedUse ? [300, 3600] : [200, 1800, 3600, 86_400]
        let lifetime = Interval.seconds(lifetimes[random.below(lifetimes.count)])
        // Some arrive when they have ended.
        let age = Interval.seconds(Int64(random.below(20) == 0 ? 400 : random.below(3)))
        let requested = now - min(age, now.uptime)
        return AppCheckToken(
            text: text, requested: requested, expires: requested + lifetime, isLimitedUse: isLimitedUse)
    }

    private mutating func failure() -> AppCheckError {
        switch random.below(6) {
        case 0: AppCheckError(.unreachable, "no connection")
        case 1: AppCheckError(.throttled, "slower", status: 429, retryAfter: .seconds(Int64(random.below(300))))
        case 2: AppCheckError(.unavailable, "later", status: 503, retryAfter: .seconds(Int64(random.below(90_000))))
        case 3: AppCheckError(.unavailable, "broken", status: 500)
        case 4: AppCheckError(.refused, "no", status: 403)
        default: AppCheckError(.providerFailed, "its own")
        }
    }

    /// The least pause that a failure demands, by the rules of the article `Use AssayClient`.
    private mutating func note(failure: AppCheckError?) {
        failures += 1
        silentUntil = nil
        guard let failure else { return }
        if let asked = failure.retryAfter {
            silentUntil = now + min(max(asked, .seconds(1)), .minutes(60))
        } else if failure.status != nil {
            silentUntil = now + min(.seconds(1 << Int64(min(failures, 20))), .minutes(60))
        }
    }

    private mutating func share() -> Double { Double(random.below(1000)) / 1000 }
}

/// SplitMix64: small, and the same everywhere.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
