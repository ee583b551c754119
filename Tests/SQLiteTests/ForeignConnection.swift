import AssayCore
import AssayKit
import Dispatch

@testable import AssaySQLite

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Connection {
    /// A connection of another program, which knows nothing of the store and makes the file where it is missing.
    convenience init(foreign path: String) throws {
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        try self.init(path: path, .readWrite, busyTimeout: .seconds(5))
    }
}

/// The lock for writing, taken by another connection, as another process would.
final class ForeignLock: Sendable {
    private let releasing = DispatchSemaphore(value: 0)

    init(_ path: String) async throws {
        let connection = ConnectionQueue(label: "foreign") { try Connection(foreign: path) }
        await withCheckedContinuation { held in
            connection.submit { [releasing] connection in
                try? connection.get().transaction(.immediate) {
                    held.resume()
                    releasing.wait()
                }
            }
        }
    }

    func release() {
        releasing.signal()
    }
}
