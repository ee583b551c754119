internal import AssayCore

/// How long a server is left alone that asked for fewer questions (429): a pure state machine.
///
/// A 429 that strangers cause pauses strangers. It pauses the standing of the peer whose question it answers, and those
/// below it. After the pause one question is allowed, and its answer decides whether others may follow; a pause that
/// follows another one is twice as long, until ten minutes have been calm.
struct ThrottlePause: Sendable {
    /// A question that was allowed.
    struct Pass: Sendable, Hashable {
        fileprivate let standing: Asker.Standing
        fileprivate let era: UInt64
        fileprivate let isProbe: Bool
    }

    enum Admission: Sendable, Hashable {
        case admitted(Pass)
        case refused(retryAfter: Duration)
    }

    private struct Class {
        var isPaused = false
        var until = Duration.zero
        /// When the single question was allowed whose answer is waited for.
        var probe: Duration?
        /// How many pauses followed each other.
        var level = 0
        var lastThrottled = Duration.zero
        /// How often it was paused: what an earlier question brings tells nothing new.
        var era: UInt64 = 0
    }

    private static let calm = Duration.seconds(600)
    /// How long an allowed question may take before another one is allowed.
    private static let probeTime = Duration.seconds(10)
    /// The pause where the server does not say one.
    private static let standard = Duration.seconds(5)

    private var classes: [Class] = Asker.Standing.allCases.map { _ in Class() }

    /// The first pause, and the longest: the server's wish is heard up to that.
    private static func bounds(_ standing: Asker.Standing) -> (first: Duration, longest: Duration) {
        switch standing {
        case .suspect: (.seconds(3600), .seconds(3600))
        case .unknown: (.seconds(60), .seconds(300))
        case .verified: (.seconds(1), .seconds(60))
        }
    }

    /// How long a standing has to wait at least; nil when it may ask.
    ///
    /// This allows nothing.
    func wait(_ standing: Asker.Standing, at now: Duration) -> Duration? {
        let state = classes[standing.rawValue]
        guard state.isPaused else { return nil }
        if now < state.until { return state.until - now }
        if let probe = state.probe, now - probe < Self.probeTime { return .seconds(1) }
        return nil
    }

    /// Allows a question, or returns how long it must wait.
    mutating func begin(_ standing: Asker.Standing, at now: Duration) -> Admission {
        if let wait = wait(standing, at: now) { return .refused(retryAfter: wait) }
        let index = standing.rawValue
        let isProbe = classes[index].isPaused
        if isProbe { classes[index].probe = now }
        return .admitted(Pass(standing: standing, era: classes[index].era, isProbe: isProbe))
    }

    /// The server answered 429.
    ///
    /// Returns how long to wait.
    mutating func throttled(_ pass: Pass, retryAfter: Duration?, at now: Duration) -> Duration {
        let index = pass.standing.rawValue
        if pass.era == classes[index].era {
            for lower in Asker.Standing.allCases where lower <= pass.standing {
                pause(lower, retryAfter, at: now)
            }
        }
        return max(classes[index].until - now, .seconds(1))
    }

    /// The server gave another answer, so it works; or nothing was learned.
    mutating func ended(_ pass: Pass, isAnswered: Bool) {
        let index = pass.standing.rawValue
        guard pass.isProbe, pass.era == classes[index].era else { return }
        classes[index].probe = nil
        guard isAnswered else { return }
        for standing in Asker.Standing.allCases where standing >= pass.standing {
            classes[standing.rawValue].isPaused = false
        }
    }

    private mutating func pause(_ standing: Asker.Standing, _ wish: Duration?, at now: Duration) {
        let (first, longest) = Self.bounds(standing)
        var state = classes[standing.rawValue]
        let isCalm = state.level == 0 || now - state.lastThrottled > Self.calm
        state.level = isCalm ? 1 : min(state.level + 1, 10)
        let doubled = 1 << (state.level - 1)
        let wait = min(wish ?? Self.standard * doubled, first * doubled, longest)
        state.until = max(state.until, now + max(wait, .seconds(1)))
        state.isPaused = true
        state.lastThrottled = now
        state.probe = nil
        state.era += 1
        classes[standing.rawValue] = state
    }
}
