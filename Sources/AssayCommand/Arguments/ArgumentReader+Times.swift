internal import AssayCore

extension ArgumentReader<Instant> {
    /// A time, a day, or a duration before now.
    static var past: Self {
        ArgumentReader(
            accepted:
                "a time such as 2026-11-24T08:15:00Z, a day such as 2026-11-24, or a duration before now such as 2h"
        ) { text throws(ArgumentCause) in
            try Self.time(text) { HostClock.system.now - $0 }
        }
    }

    /// A time, a day, or a duration from now.
    static var future: Self {
        ArgumentReader(
            accepted: "a time such as 2027-01-01T00:00:00Z, a day such as 2027-01-01, or a duration from now such as 7d"
        ) { text throws(ArgumentCause) in
            try Self.time(text) { HostClock.system.now + $0 }
        }
    }

    private static func time(
        _ text: String, _ place: (Duration) -> Instant
    ) throws(ArgumentCause) -> Instant {
        if let instant = Instant(rfc3339: text) ?? Instant(rfc3339: "\(text)T00:00:00Z") { return instant }
        if Instant(rfc3339: "\(text)Z") != nil { throw "a time without its zone, which is Z for UTC" }
        do throws(ArgumentCause) {
            return place(try ArgumentReader<Duration>.duration(text))
        } catch {
            throw error.words.isExactly("not a duration") ? "neither a time nor a duration" : error
        }
    }
}
