import AssayCore
import AssayKit
import AssayServer
import AssayTesting
import Logging
import Synchronization

/// A reloader with a clock that tests move, and what it says.
final class ReloadScene: Sendable {
    let clock = ManualClock()
    let reloader: Reloader
    private let said = Said()

    init(_ subjects: ReloadSubject..., interval: Duration? = .seconds(1)) {
        let said = said
        reloader = Reloader(
            subjects, interval: interval, clock: clock.hostClock,
            logger: Logger(label: "test", factory: { _ in SaidHandler(said: said) })
        ) { said.add(outcome: "\($0) \($1)") }
    }

    /// What came of each attempt.
    var outcomes: [String] { said.outcomes }
    /// Log lines of notices and worse.
    var log: [String] { said.lines }

    /// What happens when an interval has passed.
    func look(_ count: Int = 1) async {
        for _ in 0..<count {
            clock.advance(by: .seconds(1))
            await reloader.work()
        }
    }

    /// What happens on a signal.
    func ask() async {
        reloader.requestReload()
        await reloader.work()
    }
}

private final class Said: Sendable {
    private let state = Mutex((outcomes: [String](), lines: [String]()))

    var outcomes: [String] { state.withLock { $0.outcomes } }
    var lines: [String] { state.withLock { $0.lines } }

    func add(outcome: String) { state.withLock { $0.outcomes.append(outcome) } }

    func add(line: String) { state.withLock { $0.lines.append(line) } }
}

private struct SaidHandler: LogHandler {
    let said: Said
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        said.add(line: "\(event.level) \(event.message)\(metadata.joined())")
    }
}
