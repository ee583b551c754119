import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@testable import AssaySQLite

@Suite(.enabled(if: SteadyRate.rows != nil, Comment(rawValue: SteadyRate.reason))) struct SteadyRateTests {
    @Test func removesAsManyAsAreInserted() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file()
        let store = try SQLiteStore(path: path, clock: .system)
        let measurement = SteadyRate("SQLite", store, folder: folder.path, delay: .seconds(10)) {
            try await Self.size(path)
        }
        #expect(try await measurement.run() == [])
        await store.close()
    }

    /// Counts on a thread of its own: a large table takes seconds.
    private static func size(_ path: String) async throws -> SteadyRate.Size {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let db = try Connection(path: path, .queryOnly, busyTimeout: .seconds(5))
                        let rows = try db.integer("SELECT count(*) FROM entry") ?? 0
                        let free = try db.integer("PRAGMA freelist_count") ?? 0
                        let pages = try db.integer("PRAGMA page_count") ?? 0
                        return SteadyRate.Size(
                            rows: rows, bytes: (pages - free) * (try db.integer("PRAGMA page_size") ?? 0))
                    })
            }
        }
    }
}
