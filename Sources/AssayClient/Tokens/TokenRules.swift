/// When tokens are renewed, and how long nothing is sent after a failure.
struct TokenRules: Sendable {
    /// A token with no more left than this is not given out again.
    var margin = Interval.minutes(5)
    /// The least time from the start of one fetch to the start of an automatic one.
    var refreshDistance = Interval.seconds(60)
    /// What half of a token's lifetime is extended by before it is refreshed.
    var refreshDelay = Interval.minutes(5)
    /// The longest wait for an automatic retry.
    var longestRetry = Interval.minutes(16)
    /// The longest pause after a failure, whatever a server asks for.
    var longestPause = Interval.minutes(60)
    /// A fetch that takes longer is given up.
    var fetchLimit = Interval.minutes(2)
    /// The most callers that wait.
    var callerLimit = 1000

    /// When a token shall be refreshed: half of its life and five minutes after the request for it, and before it is
    /// too old to be given out.
    func refresh(of token: AppCheckToken) -> Moment {
        min(token.requested + token.lifetime.share(0.5) + refreshDelay, token.expires - margin)
    }

    /// How long to wait before an automatic retry.
    func retry(after failures: Int) -> Interval {
        min(refreshDistance * (1 << Int64(min(max(failures, 1) - 1, 20))), longestRetry)
    }

    /// How long nothing is sent after a failure; nil when the next call may be sent at once.
    ///
    /// - Parameters:
    ///   - failures: how many came in a row.
    ///   - jitter: 0 to 1; up to a half of the pause is added, so that not all devices come back together.
    func pause(after error: AppCheckError, failures: Int, jitter: Double) -> Interval? {
        if let asked = error.retryAfter {
            let bounded = min(max(asked, .seconds(1)), longestPause)
            return bounded + min(bounded, .minutes(1)).share(jitter / 2)
        }
        guard error.growsPause else { return nil }
        let pause = Interval.seconds(1 << Int64(min(max(failures, 1), 20)))
        let bounded = min(pause, longestPause)
        return min(bounded + bounded.share(jitter / 2), longestPause)
    }
}

extension AppCheckError {
    /// Whether each failure of this kind doubles the pause: what a server answered, and what a device refuses.
    ///
    /// Nothing was sent that failed on the way, and so the next caller may try. Providers of the app's own have
    /// their own rules.
    var growsPause: Bool {
        switch code {
        case .refused, .notConfigured, .rejected, .throttled, .unavailable, .redirected, .malformedReply, .foreignToken,
            .unsupportedDevice, .deviceFailed:
            true
        default: false
        }
    }
}
