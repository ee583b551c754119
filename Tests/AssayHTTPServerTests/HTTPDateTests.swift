import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayHTTPServer

@Suite("Dates of replies")
struct HTTPDateTests {
    @Test(
        "dates are of the fixed form",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-1, "Thu, 01 Jan 1970 00:00:00 GMT"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])
    func form(seconds: Int64, text: String) {
        #expect(HTTPDate.text(Instant(seconds: seconds)) == text)
    }

    @Test("every day of a century is the calendar's")
    func calendar() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for day in 0..<36_600 {
            let seconds = Int64(day) * 86_400 + 45_296
            let expected = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            guard HTTPDate.text(Instant(seconds: seconds)) == expected else {
                Issue.record("\(HTTPDate.text(Instant(seconds: seconds))) is not \(expected)")
                return
            }
        }
    }
}
