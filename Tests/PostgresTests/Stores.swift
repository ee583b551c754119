import AssayCore
import AssayKit
import Foundation
import Synchronization
import Testing

@testable import AssayPostgres

/// Whether the tests can run here.
let isInstalled: ConditionTrait = .enabled(
    if: PostgresServer.programs != nil, "PostgreSQL is not installed: apt-get install postgresql-15")

/// Opens a store on the shared server, or on another.
func openStore(
    _ schema: String, _ options: String = "pool=4", clock: HostClock = .system, user: String = "postgres",
    port: UInt16? = nil, on server: PostgresServer? = nil
) async throws -> PostgresStore {
    let server = try server ?? PostgresServer.shared.get()
    let url = server.url(user: user, port: port, options: "schema=\(schema)&\(options)")
    return try await PostgresStore.open(url, host: StorageHost(clock: clock))
}

/// What opening a location says; nil when it opens.
func openingMessage(_ location: String) async -> String? {
    do throws(StateStoreOpeningError) {
        await (try PostgresStore.open(location, host: StorageHost())).close()
        return nil
    } catch {
        return error.message
    }
}

/// A clock that stands where it is put; sleeping moves it.
final class StoppedClock: Sendable {
    private let time: Mutex<Instant>

    init(_ start: Int64 = 0) {
        time = Mutex(Instant(seconds: start))
    }

    var host: HostClock {
        HostClock(
            now: { self.time.withLock { $0 } }, uptime: { self.time.withLock { .milliseconds($0.milliseconds) } },
            sleep: { _ in })
    }

    func set(_ instant: Instant) {
        time.withLock { $0 = instant }
    }
}

/// The code of the error that an operation throws; nil when it does not.
func code(_ operation: () async throws -> Void) async -> PostgresStoreError.Code? {
    do {
        try await operation()
        return nil
    } catch {
        return (error as? PostgresStoreError)?.code ?? .failed
    }
}

/// Repeats an operation until it does not throw.
func eventually<T>(within limit: Duration = .seconds(60), _ operation: () async throws -> T) async throws -> T {
    let end = ContinuousClock.now + limit
    while true {
        do {
            return try await operation()
        } catch {
            guard ContinuousClock.now < end else { throw error }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// Waits until something holds; returns whether it does.
func becomes(within limit: Duration = .seconds(60), _ condition: () async -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while !(await condition()) {
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(20))
    }
    return true
}

func insertion(_ name: String, _ value: [UInt8] = [], expires: Int64? = nil) -> StateChange {
    .insert(StateKey("s", name), value: value, expires: expires.map { Instant(seconds: $0) }, isListed: true)
}

func raising(_ name: String, to value: UInt64) -> StateChange { .advance(StateKey("s", name), to: value) }
