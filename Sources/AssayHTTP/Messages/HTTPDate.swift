internal import AssayKit

/// The date of a reply (RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`).
enum HTTPDate {
    static func text(_ instant: Instant) -> String {
        // From 1970 to 9999, which is all that the format can say.
        let seconds = Int(min(max(instant.seconds, 0), 253_402_300_799))
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400)

        // Days are counted in eras of 400 years that begin in March, so that a leap day is a year's last.
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = (shifted + 2) % 12
        let year = era * 400 + yearOfEra + (month < 2 ? 1 : 0)

        let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekdays[(days + 4) % 7]), \(padded(day, 2)) \(months[month]) \(padded(year, 4)) \(clock) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
