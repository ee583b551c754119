import Dispatch
import GRDB

/// The lock for writing, taken by another connection, as another process would.
final class ForeignLock: Sendable {
    private let releasing = DispatchSemaphore(value: 0)

    init(_ path: String) async throws {
        let connection = try DatabaseQueue(path: path)
        await withCheckedContinuation { held in
            connection.asyncWriteWithoutTransaction { [releasing] db in
                try? db.inTransaction(.immediate) {
                    held.resume()
                    releasing.wait()
                    return .rollback
                }
            }
        }
    }

    func release() {
        releasing.signal()
    }
}
