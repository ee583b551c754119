import AssayCore
import AssayKit
import AssaySQLite
import Foundation
import Synchronization

/// A folder that goes with the object, and what is put into it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String = "state.sqlite") -> String {
        path + "/" + name
    }

    func write(_ bytes: [UInt8], to name: String = "state.sqlite") throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    func permit(_ permissions: Int, _ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file(name))
    }
}

/// A clock that stands where it is put.
final class StoppedClock: Sendable {
    private let time = Mutex(Instant(seconds: 0))

    var host: HostClock {
        HostClock(
            now: { self.time.withLock { $0 } }, uptime: { self.time.withLock { .milliseconds($0.milliseconds) } },
            sleep: { _ in })
    }

    func set(_ instant: Instant) {
        time.withLock { $0 = instant }
    }
}

/// The code of the error that opening a store throws; nil when it opens.
func openingError(_ path: String, options: SQLiteStore.Options = .init()) -> SQLiteStoreError? {
    do throws(SQLiteStoreError) {
        _ = try SQLiteStore(path: path, clock: .system, options: options)
        return nil
    } catch {
        return error
    }
}
