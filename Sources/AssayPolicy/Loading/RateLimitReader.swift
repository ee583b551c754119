internal import AssayYAML

/// Reads the section `rate_limit` of an app or an OAuth client.
enum RateLimitReader {
    static let key = "rate_limit"

    /// The limit; nil when it is wrong, which is reported.
    static func read(_ value: YAMLValue) -> RateLimit? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let requests = section.required("requests").flatMap { count($0) }
        var interval = RateLimit.standardInterval
        if let value = section.optional("interval"), let stated = value.decode(Duration.self) {
            if RateLimit.intervals.contains(stated) {
                interval = stated
            } else {
                value.report("expected a duration from 1s to 1d")
            }
        }
        let burst = section.optional("burst").flatMap { count($0) }
        guard let requests else { return nil }
        return RateLimit(requests: requests, interval: interval, burst: burst ?? requests)
    }

    private static func count(_ value: YAMLValue) -> Int? {
        guard let count = value.decode(Int.self) else { return nil }
        guard RateLimit.counts.contains(count) else {
            value.report("expected a number from 1 to 1000000")
            return nil
        }
        return count
    }
}
