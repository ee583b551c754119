internal import AssayCore
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Tells whether the files of an open database are still those at their paths.
///
/// A file that was removed or replaced remains only for the processes that have it open: what they write is lost with
/// them, and other processes, which find another file or make one, never see it.
final class FileWatch: Sendable {
    private let files: [(file: DatabaseFile, identity: DatabaseIdentity?)]
    private let last: Mutex<(at: ContinuousClock.Instant, reason: String?)?> = Mutex(nil)

    /// How long a finding is valid while nothing is written.
    private static let lifetime = Duration.milliseconds(100)

    /// Remembers the present files as the expected ones.
    init(_ files: DatabaseFile...) {
        self.files = files.map { ($0, $0.identity) }
    }

    /// The present problem, in words for an operator; nil while all files are in place.
    var blockingReason: String? {
        for (file, identity) in files {
            let present = file.identity
            guard present != identity else { continue }
            return present == nil
                ? "\(file.path) was removed while it is in use: put the same file back, or end the server and restore a copy"
                : "\(file.path) was replaced while it is in use: put the same file back; a restart would use the new file, and what only the "
                    + "other one has (what was used, keys in the state) would be lost"
        }
        return nil
    }

    /// The same, as it was found within the last tenth of a second.
    var recentReason: String? {
        let now = ContinuousClock.now
        return last.withLock { last in
            if let last, now - last.at < Self.lifetime { return last.reason }
            let reason = blockingReason
            last = (now, reason)
            return reason
        }
    }

    func check() throws(SQLiteStoreError) {
        if let blockingReason { throw SQLiteStoreError(.replaced, blockingReason) }
    }
}

/// What tells one file from another that bears the same name.
struct DatabaseIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
