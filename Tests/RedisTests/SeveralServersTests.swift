import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Synchronization

import Testing

@testable import AssayRedis

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#endif

@Suite(.serialized, .enabled(if: ServerProgram.isWanted, ServerProgram.reason)) struct SeveralServersTests {
    /// Three masters without replicas.
    private func cluster() async throws -> [TestServer] {
        let program = try #require(ServerProgram.any)
        let servers = try (0..<3).map { _ in
            try TestServer(
                program, TestServer.durable + ["--cluster-enabled", "yes", "--cluster-node-timeout", "3000"],
                port: TestServer.freePort())
        }
        for (index, server) in servers.enumerated() {
            let (first, last) = (index * 16_384 / 3, (index + 1) * 16_384 / 3 - 1)
            try server.ask("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(last)")
            try server.ask("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
            if index > 0 { try server.ask("CLUSTER", "MEET", "127.0.0.1", "\(servers[0].port)") }
        }
        let isWhole = await eventually {
            try servers.allSatisfy { server in
                let info = try server.ask("CLUSTER", "INFO")
                return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
            }
        }
        #expect(isWhole)
        return servers
    }

    @Test("a cluster keeps the promises of the contract, also while slots move and after a server has moved")
    func clusterOfThree() async throws {
        let servers = try await cluster()
        let address = "//127.0.0.1:\(servers[0].port)"
        let count = Mutex(0)
        let suite = StateStoreSuite(
            makeStore: { clock in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return try await open("\(address)#prefix=p\(number)", clock: clock)
            },
            reopen: { store, clock in
                await (store as? RedisStore)?.close()
                return try await open("\(address)#prefix=p\(count.withLock { $0 })", clock: clock)
            }, removal: "the servers remove by their own clock", spansServers: true, timeLimit: .seconds(900))
        let failures = await suite.run()
        #expect(failures == [])
        try await commits(address)
        try await moves(servers, address)
        try await cautions(servers, address)
        try await losses(servers, address)
    }

    private func commits(_ address: String) async throws {
        let store = try await open(address)
        // One name, one slot: all or nothing.
        let (entry, counter) = (StateKey("s", "same"), StateKey("t", "same"))
        #expect(try await store.advance(counter, to: 5))
        #expect(
            try await store.commit([.insert(entry, value: [], expires: nil, isListed: false), .advance(counter, to: 5)])
                == 1)
        #expect(try await store.get(entry) == nil)
        // Several slots: in their order, until one cannot be made.
        let changes: [StateChange] = [
            .insert(StateKey("s", "foo"), value: [], expires: nil, isListed: true), .advance(counter, to: 4),
            .insert(StateKey("s", "bar"), value: [], expires: nil, isListed: true),
        ]
        #expect(try await store.commit(changes) == 1)
        #expect(try await store.list("s", after: nil, limit: 9).map(\.name) == ["foo"])
        try await store.sweep()
        #expect(try await store.list("s", after: nil, limit: 9).map(\.name) == ["foo"])
        await store.close()
    }

    /// Moves the slot of `foo` by hand from its server to the first one.
    private func moves(_ servers: [TestServer], _ address: String) async throws {
        let slot = 12_182
        let (source, target) = (servers[2], servers[0])
        let store = try await open(address)
        #expect(try await store.insert(StateKey("m", "foo"), value: [1], expires: nil))
        let names = try [source, target].map { try $0.ask("CLUSTER", "MYID").trimmingCharacters(in: .newlines) }
        try target.ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", names[0])
        try source.ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", names[1])
        // A key that is no longer at the source is asked for at the target.
        try source.ask("MIGRATE", "127.0.0.1", "\(target.port)", "assay:e:m:{foo}", "0", "1000")
        #expect(try await store.get(StateKey("m", "foo")) == [1])
        #expect(try await store.insert(StateKey("m", "foo"), value: [2], expires: nil) == false)
        #expect(try await store.advance(StateKey("new", "foo"), to: 3))
        let keys = try source.ask("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(separator: "\n").map(String.init)
        for key in keys where !key.isEmpty {
            try source.ask("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "1000")
        }
        for server in [target, source] { try server.ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", names[1]) }
        #expect(try await store.get(StateKey("m", "foo")) == [1])
        #expect(try await store.advance(StateKey("new", "foo"), to: 3) == false)
        #expect(try await store.insert(StateKey("m", "foo"), value: [2], expires: nil) == false)
        await store.close()
    }

    /// What one server may forget is said although the others forget nothing.
    private func cautions(_ servers: [TestServer], _ address: String) async throws {
        let store = try await open("\(address)#durability=relaxed")
        for (index, server) in servers.enumerated() {
            try server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
            #expect(
                await eventually {
                    try await store.watch()
                    return store.caution?.contains("127.0.0.1:\(server.port): ") == true
                })
            // The others were asked after it, in any order.
            for _ in 0..<5 {
                try await store.watch()
                #expect(store.caution?.contains("maxmemory-policy") == true)
            }
            #expect(store.caution?.contains("127.0.0.1:\(servers[(index + 1) % 3].port): ") == false)
            try server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
            #expect(
                await eventually {
                    try await store.watch()
                    return store.caution == nil
                })
        }
        await store.close()
    }

    private func losses(_ servers: [TestServer], _ address: String) async throws {
        let store = try await open(address)
        #expect(try await store.insert(StateKey("l", "foobar"), value: [], expires: nil))
        for name in 0..<20 { _ = try await store.get(StateKey("l", "\(name)")) }
        try servers[1].ask("FLUSHALL")
        #expect(await code { try await store.watch() } == .replaced)
        #expect(store.blockingReason != nil)
        await store.close()
    }

    @Test("the master is found by a sentinel, also after a failover, and a replica's confirmation survives it")
    func sentinel() async throws {
        let program = try #require(
            ServerProgram.redis, "redis-server is not installed: the README's command installs it")
        let settings = TestServer.durable + ["--repl-diskless-sync-delay", "0"]
        let master = try TestServer(program, settings, port: TestServer.freePort())
        let replica = try TestServer(
            program, settings + ["--replicaof", "127.0.0.1", "\(master.port)"], port: TestServer.freePort())
        #expect(await eventually { try replica.ask("INFO", "replication").contains("master_link_status:up") })
        let port = TestServer.freePort()
        let file = "\(master.folder)/sentinel.conf"
        try """
        port \(port)
        bind 127.0.0.1
        dir \(master.folder)
        sentinel monitor state 127.0.0.1 \(master.port) 1
        sentinel down-after-milliseconds state 1000
        sentinel failover-timeout state 2000
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: program.path)
        process.arguments = [file, "--sentinel"]
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/null")
        process.standardError = FileHandle(forWritingAtPath: "/dev/null")
        try process.run()
        defer {
            _ = Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        let location = "//127.0.0.1:1,127.0.0.1:\(port)#sentinel=state&replicas=1"
        var opened: RedisStore?
        let isOpen = await eventually {
            opened = try await open(location)
            return true
        }
        #expect(isOpen)
        let store = try #require(opened)
        #expect(try await store.insert(StateKey("s", "before"), value: [], expires: nil))
        #expect(await code { _ = try await open("//127.0.0.1:\(port)#sentinel=other") } == .notMaster)
        // It knows the replica from its first look at the master, within a second or so.
        let isFailedOver = await eventually(.seconds(10)) {
            let attempt = ChildProcess()
            attempt.executableURL = URL(fileURLWithPath: program.cli)
            attempt.arguments = ["-p", "\(port)", "SENTINEL", "FAILOVER", "state"]
            attempt.standardOutput = FileHandle(forWritingAtPath: "/dev/null")
            try attempt.run()
            attempt.waitUntilExit()
            return try replica.ask("INFO", "replication").contains("role:master")
        }
        #expect(isFailedOver)
        // The old master follows the new one, as the sentinel would tell it ten seconds later, and confirms its writes.
        try master.ask("REPLICAOF", "127.0.0.1", "\(replica.port)")
        var last = ""
        let works = await eventually {
            do {
                return try await store.insert(StateKey("s", "before"), value: [], expires: nil) == false
            } catch {
                last = "\(error)"
                throw error
            }
        }
        #expect(works, "\(last)")
        #expect(store.blockingReason == nil)
        #expect(try replica.ask("EXISTS", "assay:e:s:{before}") == "1\n")
        await store.close()
    }

    @Test(
        "a failover with open connections is survived without a restart, for what is written and for what is read",
        arguments: ServerProgram.all)
    func failover(_ program: ServerProgram) async throws {
        let settings = TestServer.durable + ["--repl-diskless-sync-delay", "0"]
        let first = try TestServer(program, settings, port: TestServer.freePort())
        let second = try TestServer(
            program, settings + ["--replicaof", "127.0.0.1", "\(first.port)"], port: TestServer.freePort())
        #expect(await eventually { try second.ask("INFO", "replication").contains("master_link_status:up") })
        let location = "//127.0.0.1:\(first.port),127.0.0.1:\(second.port)#replicas=1"
        let (store, reading) = (try await open(location), try await open(location))
        let used = StateKey("s", "used")
        #expect(try await store.insert(used, value: [], expires: nil))
        #expect(try await reading.get(used) == [])
        // One writes all the time, the other only reads.
        let failures = Mutex(0)
        let writing = Task {
            for number in 0... {
                guard !Task.isCancelled else { return }
                do {
                    _ = try await store.advance(StateKey("c", "c"), to: UInt64(number + 1))
                } catch {
                    failures.withLock { $0 += 1 }
                }
            }
        }
        try second.ask("REPLICAOF", "NO", "ONE")
        try first.ask("REPLICAOF", "127.0.0.1", "\(second.port)")
        let works = await eventually { try await store.insert(used, value: [], expires: nil) == false }
        #expect(works, "after \(failures.withLock { $0 }) failed writes")
        // Another key each time: what failed may be stored anyway.
        var number = 0
        #expect(
            await eventually {
                number += 1
                return try await store.insert(StateKey("s", "new-\(number)"), value: [], expires: nil)
            })
        writing.cancel()
        await writing.value
        #expect(store.blockingReason == nil)
        // A replica answers what is read: only a look at the server shows that it is one now.
        try second.ask("CONFIG", "RESETSTAT")
        _ = await error { try await reading.watch() }
        let isMoved = await eventually {
            _ = try await reading.get(used)
            return try second.ask("INFO", "commandstats").contains("cmdstat_evalsha")
        }
        #expect(isMoved)
        await store.close()
        await reading.close()
    }
}
