import AssayCore
import AssayKit
import AssayTesting
import Foundation
import Testing

@testable import AssayPostgres

@Suite(isInstalled) struct PostgresStoreTests {
    @Test func keepsEveryPromiseOfAStore() async throws {
        let server = try PostgresServer.shared.get()
        // The suite writes thousands of times, one after the other: not each of them has to wait for the disk.
        try server.sql("CREATE ROLE hasty SUPERUSER LOGIN", "ALTER ROLE hasty SET synchronous_commit = off")
        let suite = StateStoreSuite(PostgresStore.self, timeLimit: .seconds(900)) {
            server.url(user: "hasty", options: "schema=\(server.newSchema())&pool=4&durability=relaxed")
        }
        #expect(await suite.run() == [])
    }

    @Test func ofManyTasksOverSeveralStoresOneInserts() async throws {
        let schema = try PostgresServer.shared.get().newSchema()
        let stores = [try await openStore(schema), try await openStore(schema), try await openStore(schema)]
        let (inserted, raised) = try await withThrowingTaskGroup(of: (Bool, Bool, UInt64).self) { group in
            for task in 0..<1000 {
                group.addTask {
                    let store = stores[task % 3]
                    let value = UInt64(task / 2 + 1)
                    let inserted = try await store.insert(StateKey("s", "one"), value: [], expires: nil)
                    let raised = try await store.advance(StateKey("s", "counter"), to: value)
                    return (inserted, raised, value)
                }
            }
            return try await group.reduce(into: (0, [UInt64]())) { found, result in
                if result.0 { found.0 += 1 }
                if result.1 { found.1.append(result.2) }
            }
        }
        #expect(inserted == 1)
        #expect(Set(raised).count == raised.count)
        #expect(raised.max() == 500)
        for store in stores { await store.close() }
    }

    @Test func ofManyCommitsOfSeveralChangesThatOverlapEachIsWholeOrNothing() async throws {
        let schema = try PostgresServer.shared.get().newSchema()
        let stores = [try await openStore(schema), try await openStore(schema)]
        // Each change is in several commits, in every order of their changes.
        let made = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
            for task in 0..<240 {
                group.addTask {
                    let changes = [
                        insertion("a\(task % 40)", [UInt8(task)]), raising("c\(task % 7)", to: UInt64(task + 1)),
                        insertion("b\(task % 60)", [UInt8(task)]),
                    ]
                    let order = task.isMultiple(of: 2) ? changes : changes.reversed()
                    return (task, try await stores[task % 2].commit(order) == nil)
                }
            }
            return try await group.reduce(into: [Int]()) { if $1.1 { $0.append($1.0) } }
        }
        var owners: [String: [UInt8]] = [:]
        for entry in try await stores[0].list("s", after: nil, limit: 1000) { owners[entry.name] = entry.value }
        for task in made {
            #expect(owners["a\(task % 40)"] == [UInt8(task)])
            #expect(owners["b\(task % 60)"] == [UInt8(task)])
        }
        #expect(owners.count == 2 * made.count)
        #expect(made.isEmpty == false)
        for store in stores { await store.close() }
    }

    @Test(arguments: [
        ([insertion("new"), raising("low", to: 5)], 1), ([raising("low", to: 5), insertion("new")], 0),
        ([insertion("used"), raising("low", to: 5)], 0), ([raising("low", to: 6), insertion("used")], 1),
        ([insertion("new"), insertion("other"), raising("zero", to: 0)], 2),
        ([insertion("z"), insertion("used"), insertion("a")], 1),
    ])
    func aCommitThatCannotBeMadeSaysWhichChangeAndMakesNone(changes: [StateChange], index: Int) async throws {
        let schema = try PostgresServer.shared.get().newSchema()
        let store = try await openStore(schema, "pool=1")
        #expect(try await store.commit([insertion("used"), raising("low", to: 5)]) == nil)
        #expect(try await store.commit(changes) == index)
        #expect(try await store.list("s", after: nil, limit: 9).map(\.name) == ["used"])
        #expect(try await store.commit([raising("low", to: 6), raising("zero", to: 1)]) == nil)
        await store.close()
    }

    @Test func aFullCommitOfSixteenLargeChangesIsMade() async throws {
        let store = try await openStore(try PostgresServer.shared.get().newSchema(), "pool=1")
        let value = [UInt8](repeating: 7, count: 200_000)
        let changes = (0..<16).map { $0.isMultiple(of: 3) ? raising("c\($0)", to: .max) : insertion("e\($0)", value) }
        #expect(try await store.commit(changes) == nil)
        #expect(try await store.commit(changes.reversed()) == 0)
        #expect(try await store.get(StateKey("s", "e14")) == value)
        #expect(await code { _ = try await store.commit(changes + [raising("x", to: 1)]) } == .tooLarge)
        await store.close()
    }

    @Test func storesWhoseClocksDifferAgreeOnWhatIsUsed() async throws {
        let schema = try PostgresServer.shared.get().newSchema()
        let (early, late) = (StoppedClock(1000), StoppedClock(1090))
        let first = try await openStore(schema, clock: early.host)
        let second = try await openStore(schema, clock: late.host)
        let expires = Instant(seconds: 1060)
        #expect(try await first.insert(StateKey("s", "used"), value: [], expires: expires))
        // The other server's clock is past the expiry: it removes the entry.
        let round = try #require(try await second.markExpired(after: nil, settling: .zero))
        #expect(try await second.remove(round) == 1)
        #expect(try await first.insert(StateKey("s", "used"), value: [], expires: expires) == false)
        #expect(try await first.commit([insertion("other"), insertion("used", expires: 1060)]) == 1)
        #expect(try await first.insert(StateKey("s", "used"), value: [], expires: Instant(seconds: 1061)))
        #expect(try await first.insert(StateKey("third", "used"), value: [], expires: expires))
        await first.close()
        await second.close()
    }

    @Test func expiredEntriesAreRemovedFewAtATimeAndNoOthers() async throws {
        let server = try PostgresServer.shared.get()
        let (schema, clock) = (server.newSchema(), StoppedClock())
        let store = try await openStore(schema, clock: clock.host)
        try server.sql(
            """
            INSERT INTO \(schema).entry SELECT convert_to('s' || i % 3, 'UTF8'), int4send(i), '', i * 1000
            FROM generate_series(1, 2000) i
            """,
            "INSERT INTO \(schema).entry VALUES ('s1', 'lasting', '', NULL)")
        clock.set(Instant(seconds: 1500))
        let first = try #require(try await store.markExpired(after: nil, settling: .zero, limit: 999))
        #expect(first.ends.map({ $0.expires }).max() == 1_000_000)
        let second = try #require(
            try await store.markExpired(after: first.ends.map({ $0.expires }).max(), settling: .zero))
        #expect(first.ends.count == 3)
        // An entry that changed meanwhile stays.
        try server.sql("UPDATE \(schema).entry SET expires = NULL WHERE expires = 7000")
        #expect(try await store.remove(first, limit: 100) == 999)
        #expect(try await store.remove(second, limit: 100) == 500)
        #expect(try server.integer("SELECT count(*) FROM \(schema).entry") == 502)
        #expect(try await store.markExpired(after: nil, settling: .zero) == nil)
        await store.close()
    }

    @Test func entriesThatAnotherTransactionHasLockedAreLeftToIt() async throws {
        let server = try PostgresServer.shared.get()
        let (schema, clock) = (server.newSchema(), StoppedClock())
        let stores = [try await openStore(schema, clock: clock.host), try await openStore(schema, clock: clock.host)]
        try server.sql(
            "INSERT INTO \(schema).entry SELECT 's', int4send(i), '', i FROM generate_series(1, 3000) i")
        clock.set(Instant(seconds: 100))
        let round = try #require(try await stores[0].markExpired(after: nil, settling: .zero))
        async let first = stores[0].remove(round, limit: 100)
        async let second = stores[1].remove(round, limit: 100)
        _ = try await (first, second)
        #expect(try server.integer("SELECT count(*) FROM \(schema).entry") == 0)
        for store in stores { await store.close() }
    }

    @Test func refusesWhatIsTooLargeWithoutEffect() async throws {
        let store = try await openStore(try PostgresServer.shared.get().newSchema(), "pool=1")
        let long = String(repeating: "x", count: 1025)
        let codes = [
            await code { _ = try await store.insert(StateKey("s", long), value: [], expires: nil) },
            await code { _ = try await store.advance(StateKey(long, "n"), to: 1) },
            await code { _ = try await store.get(StateKey("s", long)) },
            await code { _ = try await store.list("s", after: nil, limit: 10_001) },
            await code {
                try await store.put(StateKey("s", "n"), value: .init(repeating: 0, count: 1 << 20 + 1), expires: nil)
            },
        ]
        #expect(codes == Array(repeating: .tooLarge, count: codes.count))
        // Random bytes: the longest names fit into the index although they cannot be compressed.
        let random = String(
            decoding: Randomness.system.bytes(1024).map { 0x21 + $0 % 0x5E }, as: UTF8.self)
        #expect(try await store.insert(StateKey(random, random), value: [], expires: nil))
        await store.close()
    }

    @Test func aListOfSeveralPartsIsWholeAndInOrder() async throws {
        let server = try PostgresServer.shared.get()
        let schema = server.newSchema()
        let store = try await openStore(schema, "pool=1")
        try server.sql(
            """
            INSERT INTO \(schema).entry SELECT 's', convert_to(i::text, 'UTF8'), '', NULL FROM generate_series(1, 1000) i
            """)
        let names = (1...1000).map(String.init).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try await store.list("s", after: nil, limit: 10_000).map(\.name) == names)
        #expect(try await store.list("s", after: names[299], limit: 600).map(\.name) == Array(names[300..<900]))
        await store.close()
    }

    @Test func refusesOperationsWhenTooManyWaitAndCarriesOutTheOthers() async throws {
        let server = try PostgresServer.shared.get()
        let store = try await openStore(server.newSchema(), "pool=2&timeout=10s")
        let value = [UInt8](repeating: 1, count: 1 << 20)
        let results = await withTaskGroup(of: PostgresStoreError.Code?.self) { group in
            for number in 0..<90 {
                group.addTask { await code { _ = try await store.commit([insertion("\(number)", value)]) } }
            }
            return await group.reduce(into: [PostgresStoreError.Code?]()) { $0.append($1) }
        }
        let refused = results.filter { $0 == .overloaded }.count
        #expect(results.allSatisfy { $0 == nil || $0 == .overloaded })
        #expect(try await store.list("s", after: nil, limit: 3).isEmpty == false)
        let kept = try server.integer("SELECT count(*) FROM \(store.core.location.schema).entry")
        #expect(kept == Int64(90 - refused))
        #expect(refused > 0)
        await store.close()
    }
}
