import AssayCore
import AssayKit
import Foundation
import Synchronization
import Testing

@testable import AssayPostgres

/// A primary, and a standby that has to confirm each write.
private struct Pair {
    let first: PostgresServer
    let second: PostgresServer

    init() throws {
        first = try PostgresServer()
        second = try PostgresServer(following: first)
        try first.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        let end = ContinuousClock.now + .seconds(20)
        while try first.integer("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != 1 {
            guard ContinuousClock.now < end else { throw PostgresServer.Failure("the standby does not follow") }
            usleep(50_000)
        }
    }

    func location(_ attributes: String, _ options: String) -> String {
        "//postgres@127.0.0.1:\(first.port),127.0.0.1:\(second.port)/postgres?\(attributes)#\(options)"
    }

    func kill() {
        first.kill()
        second.kill()
    }
}

/// Writes under new names until it is told to end.
final class Load: Sendable {
    /// What was confirmed, and the codes of what was not.
    typealias Outcome = (confirmed: [String], codes: Set<PostgresStoreError.Code>)

    private let outcome = Mutex<Outcome>(([], []))
    private let failures = Mutex(0)
    private let running = Mutex<[Task<Void, Never>]>([])

    init(_ store: PostgresStore, tasks: Int) {
        let tasks = (0..<tasks).map { task in
            Task {
                for number in 0..<1_000_000 where !Task.isCancelled {
                    let name = "\(task)-\(number)"
                    let changes = [insertion(name), raising("c\(task)", to: UInt64(number) + 1)]
                    let code = await code { _ = try await store.commit(changes) }
                    outcome.withLock { outcome in
                        if let code { outcome.codes.insert(code) } else { outcome.confirmed.append(name) }
                    }
                    guard code != nil else { continue }
                    failures.withLock { $0 += 1 }
                    // A store that knows of the outage answers at once.
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
        }
        running.withLock { $0 = tasks }
    }

    /// Waits until some more writes were confirmed: on a busy machine its tasks may not have run at all.
    func isConfirmed(_ count: Int) async throws -> Bool {
        let wanted = outcome.withLock { $0.confirmed.count } + count
        return try await becomes(within: .seconds(30)) { outcome.withLock { $0.confirmed.count } >= wanted }
    }

    /// Waits until one more write has failed.
    func isRefused() async throws -> Bool {
        let before = failures.withLock { $0 }
        return try await becomes(within: .seconds(30)) { failures.withLock { $0 } > before }
    }

    func end() async -> Outcome {
        let tasks = running.withLock { $0 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return outcome.withLock { $0 }
    }
}

/// How many of the names are missing in a server.
func missing(_ names: [String], in server: PostgresServer, schema: String) throws -> Int64? {
    let list = names.map { "('\($0)')" }.joined(separator: ",")
    return try server.integer(
        """
        SELECT count(*) FROM (VALUES \(list)) AS n (name) WHERE NOT EXISTS (
            SELECT 1 FROM \(schema).entry e WHERE e.space = 's' AND e.name = convert_to(n.name, 'UTF8'))
        """)
}

@Suite(isInstalled, .serialized) struct FailoverTests {
    @Test(arguments: ["target_session_attrs=read-write", "target_session_attrs=primary", ""])
    func aStandbyThatTakesOverHasEveryConfirmedWriteAndTheStoreGoesOnWithIt(attributes: String) async throws {
        let pair = try Pair()
        defer { pair.kill() }
        let store = try await PostgresStore.open(
            pair.location(attributes, "pool=4&timeout=1s"), host: StorageHost())
        let load = Load(store, tasks: 8)
        #expect(try await load.isConfirmed(50))
        pair.first.kill()
        // Nothing accepts writes, and callers are told so, within the time limit.
        #expect(try await becomes { await code { _ = try await store.get(StateKey("s", "0-0")) } == .readOnly })
        let failure = await #expect(throws: PostgresStoreError.self) {
            try await store.insert(StateKey("s", "x"), value: [], expires: nil)
        }
        let words = "no host accepts writes; promote a standby, or name all hosts of the cluster"
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(store.blockingReason == nil)
        try pair.second.promote()
        #expect(try await eventually { try await store.insert(StateKey("s", "y"), value: [], expires: nil) })
        #expect(try await load.isConfirmed(10))
        let (confirmed, codes) = await load.end()
        #expect(codes.subtracting([.connectionLost, .cannotConnect, .readOnly, .timedOut]) == [], "\(codes)")
        #expect(try missing(confirmed, in: pair.second, schema: "assay") == 0)
        // What was confirmed by the former primary counts as used.
        for name in confirmed.prefix(50) {
            #expect(try await store.insert(StateKey("s", name), value: [], expires: nil) == false)
        }
        await store.close()
    }

    @Test func aFormerPrimaryThatComesBackWithItsOldDataIsNotUsed() async throws {
        let pair = try Pair()
        defer { pair.kill() }
        let location = pair.location("target_session_attrs=read-write", "pool=2&timeout=1s")
        let store = try await PostgresStore.open(location, host: StorageHost())
        pair.first.kill()
        try pair.second.promote()
        #expect(try await eventually { try await store.insert(StateKey("s", "used"), value: [], expires: nil) })
        // Nobody has stopped it, and it needs no standby any more: libpq finds it first.
        try pair.first.start("synchronous_standby_names=")
        try pair.second.sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'assay' AND pid <> pg_backend_pid()
            """)
        #expect(
            try await becomes {
                await code { _ = try await store.insert(StateKey("s", "used"), value: [], expires: nil) } == .replaced
            })
        let failure = await #expect(throws: PostgresStoreError.self) { try await store.get(StateKey("s", "used")) }
        #expect(failure?.message.contains("has timeline 1, and one with timeline 2 took over") == true)
        #expect(try pair.first.integer("SELECT count(*) FROM assay.entry") == 0)
        pair.first.kill()
        #expect(
            try await eventually { try await store.insert(StateKey("s", "used"), value: [], expires: nil) } == false)
        await store.close()
    }

    @Test func aStandbyAloneIsRefused() async throws {
        let pair = try Pair()
        defer { pair.kill() }
        await (try await PostgresStore.open(pair.first.url(options: "pool=1"), host: StorageHost())).close()
        let alone = pair.second.url(options: "pool=1")
        let message = await openingMessage(alone)
        #expect(message?.contains("the server accepts no writes: a standby") == true, "\(message ?? "opened")")
        #expect(message?.contains("name all hosts of the cluster and target_session_attrs=read-write") == true)
        for attributes in ["read-write", "primary"] {
            let place = "//postgres@127.0.0.1:\(pair.second.port)/postgres?target_session_attrs=\(attributes)"
            let message = await openingMessage(place)
            #expect(message?.contains("no host accepts writes; promote a standby") == true, "\(message ?? "opened")")
        }
        let migration = await #expect(throws: StateStoreOpeningError.self) { try await PostgresStore.migrate(alone) }
        #expect(migration?.message.contains("the server accepts no writes") == true)
        // Looking at it is allowed, and says what it is.
        let findings = try await eventually { try await PostgresStore.examine(alone) }
        #expect(findings.problems.contains { $0.contains("the server accepts no writes now") })
    }

    @Test func aServerThatComesBackAsAStandbyTakesNoWritesUntilItIsPromoted() async throws {
        let server = try PostgresServer()
        defer { server.kill() }
        let store = try await openStore("assay", "pool=2&timeout=1s", on: server)
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: nil))
        server.stop()
        let signal = "\(server.folder)/data/standby.signal"
        #expect(FileManager.default.createFile(atPath: signal, contents: nil))
        try server.give(signal)
        try server.start()
        #expect(
            try await becomes {
                await code { _ = try await store.insert(StateKey("s", "b"), value: [], expires: nil) } == .readOnly
            })
        #expect(await code { _ = try await store.get(StateKey("s", "a")) } == .readOnly)
        try server.promote()
        #expect(try await eventually { try await store.insert(StateKey("s", "b"), value: [], expires: nil) })
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: nil) == false)
        await store.close()
    }

    @Test func theRemovalOfExpiredEntriesOutlivesAnOutage() async throws {
        let server = try PostgresServer()
        defer { server.kill() }
        let store = try await openStore("assay", "pool=1&timeout=1s", on: server)
        let removal = Task { await code { try await store.run() } }
        server.stop()
        // It looks for expired entries every five seconds.
        let first = await withTaskGroup(of: PostgresStoreError.Code?.self) { group in
            group.addTask { await removal.value }
            group.addTask {
                try? await Task.sleep(for: .seconds(7))
                return nil
            }
            defer { removal.cancel() }
            return await group.next() ?? nil
        }
        #expect(first == nil, "it has failed")
        try server.start()
        await store.close()
    }

    @Test func aServerThatIsRestartedUnderLoadLosesNothingThatWasConfirmed() async throws {
        let server = try PostgresServer()
        defer { server.kill() }
        let store = try await openStore("assay", "pool=4&timeout=1s", on: server)
        let load = Load(store, tasks: 8)
        for _ in 0..<2 {
            #expect(try await load.isConfirmed(10))
            server.stop()
            #expect(try await load.isRefused())
            try server.start()
            try await eventually { try await store.put(StateKey("t", "a"), value: [1], expires: nil) }
        }
        let (confirmed, codes) = await load.end()
        #expect(codes.subtracting([.connectionLost, .cannotConnect, .timedOut]) == [], "\(codes)")
        #expect(try missing(confirmed, in: server, schema: "assay") == 0)
        await store.close()
    }
}
