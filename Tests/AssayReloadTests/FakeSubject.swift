import AssayCore
import AssayServer
import Logging
import Synchronization

/// A subject that tests play with: files that change, and readings that fail.
final class FakeSubject: Sendable {
    struct State {
        var version = 0
        var error: (any Error)?
        var readings: [Int] = []
        /// Called in the midst of a reading.
        var during: (@Sendable () -> Void)?
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let state = Mutex(State())

    /// The versions that were put in force.
    var readings: [Int] { state.withLock { $0.readings } }

    /// Changes the files.
    func set(_ version: Int) { state.withLock { $0.version = version } }

    func fail(_ error: (any Error)?) { state.withLock { $0.error = error } }

    func during(_ body: (@Sendable () -> Void)?) { state.withLock { $0.during = body } }

    func subject(_ name: String = "things", isWatched: Bool = true) -> ReloadSubject {
        let look: @Sendable () -> FileFingerprint = {
            FileFingerprint(of: ["/proc/no/such/\(self.state.withLock { $0.version })"])
        }
        return ReloadSubject(name, fingerprint: isWatched ? look : nil) {
            let (version, during) = self.state.withLock { ($0.version, $0.during) }
            during?()
            return try self.state.withLock { state in
                if let error = state.error { throw error }
                defer { state.readings.append(version) }
                return state.readings.last == version ? nil : ["version": "\(version)"]
            }
        }
    }
}
