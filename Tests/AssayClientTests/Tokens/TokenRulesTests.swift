import Testing

@testable import AssayClient

@Suite("When tokens are renewed")
struct TokenRulesTests {
    private let rules = TokenRules()

    @Test(
        "a token is refreshed after half of its life and five minutes, and five minutes before its end at the latest",
        arguments: [
            (30, 20), (60, 35), (120, 65), (24 * 60, 725), (7 * 24 * 60, 5045), (20, 15), (12, 7), (5, 0), (4, -1),
        ] as [(Int64, Int64)])
    func refresh(lifetime: Int64, minutes: Int64) {
        let start = Moment(uptime: .minutes(1000))
        let token = AppCheckToken(
            text: "a", requested: start, expires: start + .minutes(lifetime), isLimitedUse: false)
        #expect(rules.refresh(of: token) - start == .minutes(minutes))
    }

    @Test(
        "automatic retries come after 1, 2, 4, 8 and 16 minutes",
        arguments: [
            (0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 16), (64, 16), (Int.max, 16),
        ] as [(Int, Int64)])
    func retry(failures: Int, minutes: Int64) {
        #expect(rules.retry(after: failures) == .minutes(minutes))
    }

    @Test(
        "a pause is at most half as long again, and an hour at most",
        arguments: [
            (1, 2), (2, 4), (5, 32), (11, 2048), (12, 3600), (64, 3600), (Int.max, 3600),
        ] as [(Int, Int64)])
    func pause(failures: Int, seconds: Int64) throws {
        let error = AppCheckError(.refused, "")
        #expect(rules.pause(after: error, failures: failures, jitter: 0) == .seconds(seconds))
        let longest = try #require(rules.pause(after: error, failures: failures, jitter: 1))
        #expect(longest == min(.milliseconds(seconds * 1500), .minutes(60)))
    }

    @Test(
        "which failures begin a pause",
        arguments: [
            (.refused, true), (.notConfigured, true), (.rejected, true), (.throttled, true),
            (.unavailable, true), (.redirected, true), (.malformedReply, true), (.foreignToken, true),
            (.unsupportedDevice, true), (.deviceFailed, true), (.unreachable, false), (.timedOut, false),
            (.providerFailed, false), (.expiredOnArrival, false), (.cancelled, false), (.invalidConfiguration, false),
        ] as [(AppCheckError.Code, Bool)])
    func pausing(code: AppCheckError.Code, pauses: Bool) {
        #expect((rules.pause(after: AppCheckError(code, ""), failures: 1, jitter: 0) != nil) == pauses)
    }

    @Test(
        "a share of a length is between nothing and the whole",
        arguments: [
            (-1.0, 0), (0, 0), (0.5, 500), (1, 1000), (7, 1000), (.nan, 0), (.infinity, 1000),
        ] as [(Double, Int64)])
    func shares(share: Double, milliseconds: Int64) {
        #expect(Interval.seconds(1).share(share) == .milliseconds(milliseconds))
        #expect(Interval(nanoseconds: .max).share(0.5).nanoseconds > .max / 2 - 2000)
    }
}
