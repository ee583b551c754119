import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayPostgres

@Suite(isInstalled) struct FaultTests {
    /// Operations that each leave a trace under a name of their own.
    private static let operations: [(name: String, run: @Sendable (PostgresStore, String) async throws -> Void)] = [
        ("insert", { store, name in _ = try await store.commit([insertion(name, [1])]) }),
        ("commit", { store, name in _ = try await store.commit([insertion(name, [1]), raising(name, to: 1)]) }),
        ("put", { store, name in try await store.put(StateKey("s", name), value: [1], expires: nil) }),
        ("get", { store, name in _ = try await store.get(StateKey("s", name)) }),
        ("list", { store, name in _ = try await store.list(name, after: nil, limit: 9) }),
    ]

    @Test(arguments: [Proxy.Direction.toServer, .toClient])
    func aConnectionThatIsCutInAnOperationLosesNothingThatWasConfirmed(direction: Proxy.Direction) async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try Proxy(to: server.port)
        defer { proxy.close() }
        let schema = server.newSchema()
        let store = try await openStore(schema, "pool=1&timeout=2s", port: proxy.port)
        for (name, run) in Self.operations { try await run(store, "first-\(name)") }
        var thrown = 0
        for bytes in [1, 30, 60, 200] {
            for (name, run) in Self.operations {
                let key = "\(name)-\(bytes)"
                proxy.cut(direction, after: bytes)
                let failure = await code { try await run(store, key) }
                // At one instant: the server may still be at work on what it was sent.
                let found = try server.table(
                    """
                    SELECT (SELECT count(*) FROM \(schema).entry WHERE name = convert_to('\(key)', 'UTF8')),
                    (SELECT count(*) FROM \(schema).counter WHERE name = convert_to('\(key)', 'UTF8'))
                    """)
                let (entries, counters) = (try found.single().integer(0), try found.single().integer(1))
                if failure == nil {
                    #expect(entries == (name == "get" || name == "list" ? 0 : 1), "\(key)")
                } else {
                    thrown += 1
                    #expect(failure == .connectionLost || failure == .cannotConnect, "\(key): \(failure as Any)")
                }
                if name == "commit" { #expect(entries == counters, "\(key)") }
                proxy.cut(direction, after: .max)
                // The same store continues, with a new connection.
                #expect(try await eventually { try await store.commit([insertion("after-\(key)")]) } == nil)
            }
        }
        #expect(thrown > 0)
        await store.close()
    }

    @Test func aServerThatIsSilentIsGivenUpAfterTheTimeLimit() async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try Proxy(to: server.port)
        defer { proxy.close() }
        let store = try await openStore(server.newSchema(), "pool=2&timeout=1s", port: proxy.port)
        #expect(try await store.insert(StateKey("s", "before"), value: [], expires: nil))
        proxy.stall(true)
        let begin = ContinuousClock.now
        let codes = await withTaskGroup(of: PostgresStoreError.Code?.self) { group in
            for task in 0..<200 {
                group.addTask { await code { _ = try await store.commit([insertion("\(task)")]) } }
            }
            return await group.reduce(into: [PostgresStoreError.Code?]()) { $0.append($1) }
        }
        // One after the other would take 100 seconds.
        #expect(ContinuousClock.now - begin < .seconds(15))
        #expect(codes.allSatisfy { $0 == .timedOut }, "\(codes)")
        proxy.stall(false)
        #expect(try await eventually { try await store.insert(StateKey("s", "after"), value: [], expires: nil) })
        await store.close()
    }

    @Test func aRowThatAnotherTransactionKeepsLockedEndsInAnErrorAndBlocksNoOther() async throws {
        let server = try PostgresServer.shared.get()
        let schema = server.newSchema()
        let store = try await openStore(schema, "pool=1&timeout=1s")
        try await store.put(StateKey("s", "locked"), value: [1], expires: Instant(seconds: 1))
        Thread.detachNewThread {
            try? server.sql(
                "SELECT pg_sleep(60) FROM (SELECT 1 FROM \(schema).entry WHERE name = 'locked' FOR UPDATE) AS x")
        }
        let other = "query LIKE 'SELECT pg_sleep%FROM \(schema).entry%'"
        let asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND \(other)"
        #expect(try await becomes { (try? server.integer(asleep)) == 1 })
        async let failure = code { try await store.put(StateKey("s", "locked"), value: [2], expires: nil) }
        async let free = code {
            try await eventually { try await store.put(StateKey("s", "free"), value: [2], expires: nil) }
        }
        let codes = await (failure, free)
        #expect(codes.0 == .conflict || codes.0 == .timedOut, "\(codes)")
        #expect(codes.1 == nil)
        #expect(try server.integer(asleep) == 1)
        try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(other)")
        try await eventually { try await store.put(StateKey("s", "locked"), value: [3], expires: nil) }
        #expect(try await store.get(StateKey("s", "locked")) == [3])
        await store.close()
    }

    @Test func connectionsThatTheServerEndsAreMadeAnew() async throws {
        let server = try PostgresServer.shared.get()
        let schema = server.newSchema()
        let role = "ended_\(schema)"
        try server.sql("CREATE ROLE \(role) SUPERUSER LOGIN")
        let store = try await openStore(schema, "pool=3", user: role)
        for round in 0..<3 {
            #expect(try await store.insert(StateKey("s", "\(round)"), value: [], expires: nil))
            try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(role)'")
            // Nothing was sent on a connection that is known to be ended: no operation fails for it.
            try await Task.sleep(for: .milliseconds(250))
            #expect(try await store.get(StateKey("s", "\(round)")) == [])
        }
        await store.close()
    }

    @Test func aServerThatTurnsReadOnlyIsLeftAndFoundAgain() async throws {
        let server = try PostgresServer.shared.get()
        let schema = server.newSchema()
        let role = "standby_\(schema)"
        try server.sql("CREATE ROLE \(role) SUPERUSER LOGIN")
        let store = try await openStore(schema, "pool=1&timeout=1s", user: role)
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: nil))
        let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(role)'"
        try server.sql("ALTER ROLE \(role) SET default_transaction_read_only = on", terminate)
        try await Task.sleep(for: .milliseconds(250))
        #expect(await code { _ = try await store.insert(StateKey("s", "b"), value: [], expires: nil) } == .readOnly)
        try server.sql("ALTER ROLE \(role) RESET default_transaction_read_only")
        #expect(try await eventually { try await store.insert(StateKey("s", "b"), value: [], expires: nil) })
        await store.close()
    }

    @Test func anotherDatabaseInItsPlaceBlocksDecisionsUntilTheFirstIsBack() async throws {
        let server = try PostgresServer.shared.get()
        let schema = server.newSchema()
        let role = "moved_\(schema)"
        try server.sql("CREATE ROLE \(role) SUPERUSER LOGIN")
        let store = try await openStore(schema, "pool=1&timeout=1s", user: role)
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: nil))
        #expect(store.blockingReason == nil)
        let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(role)'"
        try server.sql("ALTER SCHEMA \(schema) RENAME TO \(schema)_kept")
        await (try await openStore(schema, "pool=1")).close()
        try server.sql(terminate)
        #expect(try await becomes { store.blockingReason?.contains("another database") == true })
        #expect(await code { _ = try await store.insert(StateKey("s", "a"), value: [], expires: nil) } == .replaced)
        try server.sql("DROP SCHEMA \(schema) CASCADE", "ALTER SCHEMA \(schema)_kept RENAME TO \(schema)")
        #expect(try await becomes { store.blockingReason == nil })
        #expect(try await eventually { try await store.insert(StateKey("s", "a"), value: [], expires: nil) } == false)
        await store.close()
    }

    @Test func aWriteWhoseWaitForTheStandbyWasEndedIsNotConfirmed() async throws {
        let server = try PostgresServer()
        defer { server.kill() }
        let store = try await openStore("assay", "pool=1&timeout=10s", on: server)
        #expect(try await store.insert(StateKey("s", "before"), value: [], expires: nil))
        try server.sql("ALTER SYSTEM SET synchronous_standby_names = 'absent'", "SELECT pg_reload_conf()")
        let writing = Task {
            await code { _ = try await store.insert(StateKey("s", "alone"), value: [], expires: nil) }
        }
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        #expect(try await becomes { (try? server.integer(waiting)) == 1 })
        try server.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        #expect(await writing.value == .connectionLost)
        try server.sql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        #expect(try await eventually { try await store.insert(StateKey("s", "after"), value: [], expires: nil) })
        await store.close()
    }

    @Test func aServerThatIsKilledAndStartedAgainKeepsWhatWasConfirmed() async throws {
        let server = try PostgresServer()
        let store = try await openStore("assay", "pool=4&timeout=1s", on: server)
        let load = Load(store, tasks: 1)
        #expect(try await load.isConfirmed(10))
        server.kill()
        #expect(await code { _ = try await store.get(StateKey("s", "0")) } != nil)
        try server.start()
        #expect(try await eventually { try await store.advance(StateKey("s", "c"), to: 1) })
        let confirmed = await load.end().confirmed
        #expect(try missing(confirmed, in: server, schema: "assay") == 0)
        // The settings of a server may change with its restart: a running store does not accept that either.
        server.kill()
        try server.start("fsync=off")
        let running = await code {
            _ = try await eventually(within: .seconds(1)) { try await store.get(StateKey("s", "0")) }
        }
        #expect(running == .notDurable)
        await store.close()
        let refused = await openingMessage(server.url(options: "pool=1"))
        #expect(refused?.contains("fsync=off") == true)
        #expect(await openingMessage(server.url(options: "pool=1&durability=relaxed")) == nil)
        let findings = try await PostgresStore.examine(server.url(options: "durability=relaxed"))
        #expect(findings.problems.count == 1)
    }
}
