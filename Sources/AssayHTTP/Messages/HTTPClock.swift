internal import AssayKit
internal import Synchronization

/// What replies have as their date: one text for all that are made within a second.
final class HTTPClock: Sendable {
    private let clock: HostClock
    private let last: Mutex<(seconds: Int64, text: String)>

    init(_ clock: HostClock) {
        self.clock = clock
        last = Mutex((.min, ""))
    }

    var date: String {
        let now = clock.now
        return last.withLock { last in
            if last.seconds != now.seconds { last = (now.seconds, HTTPDate.text(now)) }
            return last.text
        }
    }
}
