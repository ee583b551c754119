internal import AssayCore
internal import Synchronization

/// The date of replies: one text for all replies within a second.
final class ReplyDate: Sendable {
    private let clock: HostClock
    private let last: Mutex<(seconds: Int64, text: String)>

    init(_ clock: HostClock) {
        self.clock = clock
        last = Mutex((.min, ""))
    }

    var text: String {
        let now = clock.now
        return last.withLock { last in
            if last.seconds != now.seconds { last = (now.seconds, HTTPDate.text(now)) }
            return last.text
        }
    }
}

/// The date of a reply (RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`).
enum HTTPDate {
    static func text(_ instant: Instant) -> String {
        // From 1970 to 9999, the range of the format.
        let seconds = Int(min(max(instant.seconds, 0), 253_402_300_799))
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400)

        let date = CivilDate(daysSinceEpoch: Int64(days))
        let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        let text = "\(padded(date.day, 2)) \(months[date.month - 1]) \(padded(date.year, 4)) \(clock) GMT"
        return "\(weekdays[(days + 4) % 7]), \(text)"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
