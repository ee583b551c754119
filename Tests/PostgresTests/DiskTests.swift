import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@testable import AssayPostgres

/// Full disks, which only root can make.
@Suite(isInstalled, .enabled(if: SmallDisk.isPossible, "only root can mount a small disk")) struct DiskTests {
    /// Writes values that cannot be compressed, until one fails.
    private static func fill(_ store: PostgresStore, _ prefix: String, bytes: Int) async -> (
        confirmed: [String], failure: PostgresStoreError?
    ) {
        var confirmed: [String] = []
        for number in 0..<10_000 {
            let name = "\(prefix)\(number)"
            do {
                try await store.put(StateKey("s", name), value: Randomness.system.bytes(bytes), expires: nil)
                confirmed.append(name)
            } catch {
                return (confirmed, error)
            }
        }
        return (confirmed, nil)
    }

    @Test func aFullDiskOfTheTablesFailsWritesWithAClearErrorUntilThereIsRoom() async throws {
        try await SmallDisk.with(kibibytes: 8 << 10) { folder in
            let server = try PostgresServer()
            defer { server.kill() }
            let (schema, role) = ("assay", "small")
            try server.give(folder)
            try server.sql(
                "CREATE ROLE \(role) SUPERUSER LOGIN", "CREATE TABLESPACE \(role) LOCATION '\(folder)'",
                "ALTER ROLE \(role) SET default_tablespace = \(role)")
            let store = try await openStore(schema, "pool=2", user: role, on: server)
            let (confirmed, failure) = await Self.fill(store, "a", bytes: 100_000)
            #expect(confirmed.count > 20)
            #expect(failure?.code == .diskFull, "\(failure as Any)")
            #expect(failure?.message.contains("the server's disk is full; make room") == true)
            #expect(failure?.sqlState == "53100")
            // Decisions that need no room are made: what was used is known.
            #expect(store.blockingReason == nil)
            #expect(try await store.insert(StateKey("s", confirmed[0]), value: [], expires: nil) == false)
            #expect(try await store.get(StateKey("s", confirmed[1]))?.count == 100_000)
            let commit = await code {
                _ = try await store.commit([
                    insertion("b", Randomness.system.bytes(900_000)), raising("counter", to: 5),
                ])
            }
            #expect(commit == .diskFull)
            #expect(try await store.get(StateKey("s", "b")) == nil)
            // Many at once, of which some have room: each has its own answer.
            let results = await withTaskGroup(of: (String, PostgresStoreError.Code?).self) { group in
                for number in 0..<40 {
                    group.addTask {
                        let value = Randomness.system.bytes(number.isMultiple(of: 2) ? 10 : 600_000)
                        return (
                            "c\(number)", await code { _ = try await store.commit([insertion("c\(number)", value)]) }
                        )
                    }
                }
                return await group.reduce(into: [(name: String, code: PostgresStoreError.Code?)]()) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0.code == nil || $0.code == .diskFull || $0.code == .timedOut }, "\(results)")
            #expect(results.contains { $0.code == .diskFull })

            #expect(SmallDisk.resize(folder, kibibytes: 64 << 10))
            #expect(try await store.advance(StateKey("s", "counter"), to: 5))
            let more = await Self.fill(store, "d", bytes: 1_000).confirmed.prefix(100)
            #expect(more.count == 100)
            let made = results.filter { $0.code == nil }.map(\.name)
            #expect(try missing(confirmed + more + made, in: server, schema: schema) == 0)
            await store.close()
        }
    }

    @Test func aFullDiskOfTheWholeServerLosesNothingThatWasConfirmed() async throws {
        try await SmallDisk.with(kibibytes: 72 << 10) { folder in
            try PostgresServer.run("chmod 755 '\(folder)'")
            let server = try PostgresServer(in: folder, segment: 1)
            defer { server.kill() }
            let store = try await openStore("assay", "pool=2&timeout=1s", on: server)
            let (confirmed, failure) = await Self.fill(store, "a", bytes: 200_000)
            #expect(confirmed.count > 20)
            // A server that cannot write its log ends itself.
            let codes: [PostgresStoreError.Code?] = [.diskFull, .connectionLost, .cannotConnect, .timedOut]
            #expect(codes.contains(failure?.code), "\(failure as Any)")
            let next = await code {
                try await store.put(StateKey("s", "x"), value: Randomness.system.bytes(900_000), expires: nil)
            }
            #expect(codes.contains(next), "\(next as Any)")

            #expect(SmallDisk.resize(folder, kibibytes: 400 << 10))
            server.kill()
            try server.start()
            #expect(try await eventually { try await store.advance(StateKey("s", "counter"), to: 5) })
            #expect(try missing(confirmed, in: server, schema: "assay") == 0)
            for name in confirmed {
                #expect(try await store.insert(StateKey("s", name), value: [], expires: nil) == false)
            }
            await store.close()
        }
    }
}
