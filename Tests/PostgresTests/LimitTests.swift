import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayPostgres

/// Servers that are full, slow, old, or no servers of PostgreSQL at all.
@Suite(isInstalled, .serialized) struct LimitTests {
    private let server: PostgresServer

    init() throws {
        server = try PostgresServer.shared.get()
    }

    @Test func aRoleWithFewConnectionsIsServedByThose() async throws {
        let (schema, role) = (server.newSchema(), "few_\(server.newSchema())")
        try server.sql("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 2", "CREATE SCHEMA \(schema) AUTHORIZATION \(role)")
        let store = try await openStore(schema, "pool=8&timeout=5s", user: role)
        let failures = await withTaskGroup(of: PostgresStoreError.Code?.self) { group in
            for number in 0..<200 {
                group.addTask { await code { _ = try await store.commit([insertion("\(number)")]) } }
            }
            return await group.reduce(into: [PostgresStoreError.Code]()) { if let code = $1 { $0.append(code) } }
        }
        #expect(failures == [])
        #expect(try server.integer("SELECT count(*) FROM \(schema).entry") == 200)
        let connections = "SELECT count(*) FROM pg_stat_activity WHERE usename = '\(role)'"
        #expect(try await becomes { (try? server.integer(connections)) == 2 })
        // They are all taken: another server is told why it gets none.
        let message = await openingMessage(server.url(user: role, options: "schema=\(schema)"))
        #expect(
            message?.contains("the server accepts no more connections; raise its limit, or lower #pool") == true,
            "\(message ?? "opened")")
        #expect(message?.contains("create the role") == false)
        await store.close()
    }

    @Test func aDatabaseThatLetsNobodyInSaysWhatIsMissing() async throws {
        let (database, role) = ("closed_\(server.newSchema())", "outside_\(server.newSchema())")
        try server.sql(
            "CREATE ROLE \(role) LOGIN", "CREATE DATABASE \(database)",
            "REVOKE CONNECT ON DATABASE \(database) FROM PUBLIC")
        func message() async -> String {
            await openingMessage("//\(role)@127.0.0.1:\(server.port)/\(database)") ?? "opened"
        }
        #expect(await message().contains("grant the role CONNECT on the database"))
        #expect(await message().contains("create the database") == false)
        try server.sql(
            "GRANT CONNECT ON DATABASE \(database) TO PUBLIC", "ALTER DATABASE \(database) CONNECTION LIMIT 0")
        #expect(await message().contains("the server accepts no more connections"))
        try server.sql("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
        #expect(await message().contains("the database has ALLOW_CONNECTIONS false"))
        try server.sql("ALTER ROLE \(role) NOLOGIN")
        #expect(await message().contains("the role needs LOGIN"))
    }

    @Test func whenHostsDifferEachIsExplained() async throws {
        let schema = server.newSchema()
        let absent = try PostgresServer.freePort()
        let hosts = "//nobody_here@no-such-host.invalid,127.0.0.1:\(server.port)/postgres#schema=\(schema)"
        let message = await openingMessage(hosts) ?? "opened"
        #expect(
            message.contains("no host has this name; check the host and the name server; create the role"), "\(message)"
        )
        // A host that does not answer does not hide that another one is a standby.
        let role = "reading_\(schema)"
        try server.sql("CREATE ROLE \(role) LOGIN", "ALTER ROLE \(role) SET default_transaction_read_only = on")
        let second = "//\(role)@127.0.0.1:\(absent),127.0.0.1:\(server.port)/postgres#schema=\(schema)"
        #expect(await openingMessage(second)?.contains("no host accepts writes; promote a standby") == true)
    }

    @Test func aSlowNetworkIsUsedByManyOperationsAtOnce() async throws {
        let proxy = try Proxy(to: server.port)
        defer { proxy.close() }
        let store = try await openStore(server.newSchema(), "pool=2&timeout=10s", port: proxy.port)
        try await store.put(StateKey("s", "first"), value: [1], expires: nil)
        proxy.delay(milliseconds: 40)
        let begin = ContinuousClock.now
        let kept = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let key = StateKey("s", "\(number)")
                    guard try await store.insert(key, value: [7], expires: nil) else { return false }
                    return try await store.get(key) == [7]
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(kept == 400)
        // One after the other over two connections, they would need 32 seconds.
        #expect(ContinuousClock.now - begin < .seconds(16))
        await store.close()
    }

    @Test func whileATableIsLockedEveryOperationEndsInTimeAndTheNextOnesAreMade() async throws {
        let schema = server.newSchema()
        let store = try await openStore(schema, "pool=2&timeout=400ms")
        try await store.put(StateKey("s", "before"), value: [1], expires: nil)
        Thread.detachNewThread { [server] in
            try? server.sql("DO $$ BEGIN LOCK TABLE \(schema).entry; PERFORM pg_sleep(60); END $$")
        }
        let waits = """
            SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = '\(schema).entry'::regclass
            """
        #expect(try await becomes { (try? server.integer(waits)) == 1 })
        let begin = ContinuousClock.now
        let codes = await withTaskGroup(of: PostgresStoreError.Code?.self) { group in
            for number in 0..<300 {
                group.addTask {
                    await code {
                        if number.isMultiple(of: 3) {
                            _ = try await store.get(StateKey("s", "before"))
                        } else {
                            _ = try await store.commit([insertion("\(number)"), raising("c", to: UInt64(number))])
                        }
                    }
                }
            }
            return await group.reduce(into: [PostgresStoreError.Code?]()) { $0.append($1) }
        }
        #expect(ContinuousClock.now - begin < .seconds(20))
        #expect(try server.integer(waits) == 1)
        #expect(codes.allSatisfy { $0 == .conflict || $0 == .timedOut || $0 == .cannotConnect }, "\(Set(codes))")
        try server.sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE 'DO %LOCK TABLE \(schema).entry;%' AND pid <> pg_backend_pid()
            """)
        #expect(try await eventually { try await store.insert(StateKey("s", "after"), value: [], expires: nil) })
        #expect(try await store.get(StateKey("s", "before")) == [1])
        await store.close()
    }

    @Test func aServerThatIsTooOldIsRefused() async throws {
        let old = try FakePostgres(FakePostgres.greeting(version: "12.22"))
        defer { old.close() }
        let message = await openingMessage(old.location)
        #expect(
            message?.contains("PostgreSQL 12; at least 13 is needed: upgrade the server, or use another one") == true,
            "\(message ?? "opened")")
    }

    @Test(arguments: [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [], [0x52, 0x7F, 0xFF, 0xFF, 0xFF],
        FakePostgres.greeting(version: "15.5") + [0x5A, 0, 0, 0, 5, 0x49],
        FakePostgres.greeting(version: "15.5") + [0x54, 0, 0, 0, 6, 0xFF, 0xFF],
        FakePostgres.message(
            0x45, Array("SFATAL\0C28P01\0Mdatabase \"x".utf8) + [UInt8](repeating: 0x41, count: 20_000)),
    ])
    func whatIsNoServerOfPostgresIsRefusedInTime(answer: [UInt8]) async throws {
        let fake = try FakePostgres(answer)
        defer { fake.close() }
        let begin = ContinuousClock.now
        let message = await openingMessage(fake.location)
        #expect(message?.hasPrefix("u@127.0.0.1:\(fake.port)/d, schema assay: ") == true, "\(message ?? "opened")")
        #expect((message ?? "").utf8.count < 3_000)
        #expect(ContinuousClock.now - begin < .seconds(8))
    }
}
