@testable import AssayServices
import AssayCore
import AssayKit
import AssayTesting
import AssayTestSupport
import Testing

@testable import AssayEngine

@Suite("Maintenance that servers with one store share", .timeLimit(.minutes(10)))
struct SharedMaintenanceTests {
    @Test("Of several servers one does the work, once in each interval", arguments: [0, 8, -8, 10, -10])
    func once(skew: Int) async throws {
        let servers = SharedServers()
        _ = try servers.start("a", "every: 60s, takes: 5s", seed: 1)
        _ = try servers.start("b", "every: 60s, takes: 5s", skew: .seconds(skew), seed: 2)
        _ = try servers.start("c", "every: 60s, takes: 5s", skew: .seconds(skew / 2), seed: 3)
        try await servers.pass(1200)
        await servers.stopAll()
        let runs = servers.runs
        #expect(servers.isOrderly(every: .seconds(60)), "\(runs)")
        // At most 71 s from one beginning to the next; the first is within a minute.
        #expect((16...20).contains(runs.count), "\(runs.count)")
        // With the greatest difference of clocks another one may try at the same instant.
        if abs(skew) < 10 { #expect(Set(runs.map(\.server)).count == 1, "the server that has begun continues") }
    }

    @Test("A server that dies during a run is replaced within a minute", arguments: [0, 8, -8, 10, -10])
    func crash(skew: Int) async throws {
        let servers = SharedServers()
        let first = try servers.start("a", "every: 60s, takes: 200s", seed: 1)
        _ = try await servers.pass { servers.isRunning }
        _ = try servers.start("b", "every: 60s, takes: 200s", skew: .seconds(skew), seed: 2)
        try await servers.pass(150)
        #expect(servers.runs.count == 1, "the lease is renewed")
        await first.die()
        #expect(await servers.turn?.state == .running, "nothing was released")
        let seconds = try await servers.pass { servers.runs.count == 2 }
        await servers.stopAll()
        #expect((10...60).contains(seconds), "\(seconds)")
        #expect(servers.runs.map(\.server) == ["a", "b"])
    }

    @Test("A server that dies between two runs is replaced within a minute after the next one is due")
    func idleCrash() async throws {
        let servers = SharedServers()
        let first = try servers.start("a", "every: 60s", seed: 1)
        _ = try await servers.pass { servers.runs.count == 1 }
        _ = try servers.start("b", "every: 60s", seed: 2)
        try await servers.pass(5)
        await first.die()
        let due = try #require(await servers.turn).until - servers.clock.now
        let seconds = try await servers.pass { servers.runs.count == 2 }
        await servers.stopAll()
        #expect(servers.runs.map(\.server) == ["a", "b"])
        #expect(.seconds(seconds) >= due && .seconds(seconds) <= due + .seconds(60), "\(seconds) of \(due)")
    }

    @Test("A server that starts after a crash of itself waits a minute at most, also for work that is rare")
    func restart() async throws {
        let servers = SharedServers()
        let first = try servers.start("a", "every: 60s, takes: 100s", seed: 1)
        _ = try await servers.pass { servers.isRunning }
        try await servers.pass(20)
        await first.die()
        _ = try servers.start("a2", "every: 86400s, takes: 100s", seed: 2)
        let seconds = try await servers.pass { servers.runs.count == 2 }
        await servers.stopAll()
        #expect(seconds <= 60, "\(seconds)")
    }

    @Test("A server that is stopped releases the work that it had begun, and keeps from others what it has done")
    func shutdown() async throws {
        let servers = SharedServers()
        let first = try servers.start("a", "every: 60s, takes: 100s", seed: 1)
        _ = try await servers.pass { servers.isRunning }
        _ = try servers.start("b", "every: 60s, takes: 3s", seed: 2)
        try await servers.pass(30)
        await first.stop()
        #expect(await servers.turn == nil)
        #expect(try await servers.pass { servers.runs.count == 2 } <= 60)
        _ = try await servers.pass { !servers.isRunning }
        await servers.stopAll()
        let turn = try #require(await servers.turn)
        #expect(turn.state == .due && turn.until >= servers.clock.now + .seconds(53))
        _ = try servers.start("c", "every: 60s, takes: 3s", seed: 3)
        _ = try await servers.pass { servers.runs.count == 3 }
        await servers.stopAll()
        #expect(servers.runs.map(\.server) == ["a", "b", "c"])
        #expect(servers.isOrderly(every: .seconds(60)), "\(servers.runs)")
    }

    @Test("A server that cannot renew its lease ends its run before another one begins", arguments: [0, 10, -10])
    func lost(skew: Int) async throws {
        let servers = SharedServers()
        let first = try servers.start("a", "every: 60s, takes: 300s", seed: 1)
        _ = try await servers.pass { servers.isRunning }
        _ = try servers.start("b", "every: 60s, takes: 300s", skew: .seconds(skew), seed: 2)
        try await servers.pass(100)
        first.store.isFailing = true
        let silence = servers.clock.hostClock.uptime
        _ = try await servers.pass { servers.runs.count == 2 }
        let runs = servers.runs
        #expect(runs[0].isCancelled)
        let end = try #require(runs[0].end)
        #expect(end <= silence + MaintenanceLeases.lifetime - MaintenanceLeases.margin)
        #expect(end <= runs[1].begin)
        #expect(runs[1].server == "b" && runs[1].begin <= silence + .seconds(60))
        #expect(first.log.lines.contains { $0.contains("the lease could not be renewed") }, "\(first.log.lines)")
        // It comes back, and leaves the run to the other one.
        first.store.isFailing = false
        try await servers.pass(120)
        #expect(servers.runs.count == 2 && servers.isRunning)
        await servers.stopAll()
    }

    @Test("A process that was paused for longer than its lease writes nothing about it, and continues with nothing")
    func paused() async throws {
        let servers = SharedServers()
        _ = try servers.start("a", "every: 600s, takes: 500s", seed: 1)
        _ = try await servers.pass { servers.isRunning }
        try await servers.pass(5)
        // All timers of the process are late by two minutes, and another server has the lease.
        let other = MaintenanceClaim(
            .running, by: "other", until: servers.clock.now + .seconds(130), failures: 0)
        try await servers.store.put(
            SharedServers.key, value: other.encoded, expires: servers.clock.now + .seconds(130))
        servers.clock.advance(by: .seconds(120))
        #expect(try await servers.pass { !servers.isRunning } <= 1)
        #expect(servers.runs[0].isCancelled)
        #expect(await servers.turn == other)
        await servers.stopAll()
        #expect(await servers.turn == other)
    }

    @Test("While the store is away runs are skipped, which is logged once; they continue soon after it is back")
    func storeAway() async throws {
        let servers = SharedServers()
        let all = [
            try servers.start("a", "every: 60s, takes: 3s", seed: 1),
            try servers.start("b", "every: 60s, takes: 3s", seed: 2),
        ]
        _ = try await servers.pass { servers.runs.count == 2 }
        _ = try await servers.pass { !servers.isRunning }
        for server in all { server.store.isFailing = true }
        try await servers.pass(900)
        #expect(servers.runs.count == 2)
        let warnings = all.map { $0.log.lines.count { $0.hasPrefix("maintenance waits") } }
        #expect(warnings == [1, 1])
        for server in all { server.store.isFailing = false }
        #expect(try await servers.pass { servers.runs.count == 3 } <= 120)
        try await servers.pass(200)
        await servers.stopAll()
        #expect(servers.isOrderly(every: .seconds(60)), "\(servers.runs)")
        #expect(all.contains { $0.log.lines.contains { $0.hasPrefix("maintenance continues") } })
    }

    @Test("Pauses after failures, and those that a run asks for, hold for all servers")
    func pauses() async throws {
        let failing = SharedServers()
        for seed in [1, 2, 3] as [UInt64] { _ = try failing.start("\(seed)", "every: 10s, word: throws", seed: seed) }
        try await failing.pass(600)
        await failing.stopAll()
        // 20, 40, 80, 160, 320 s, or half of them, and 20 s of another server.
        #expect((4...8).contains(failing.runs.count), "\(failing.runs)")
        let asking = SharedServers()
        let first = try asking.start("a", "every: 10s, word: pauses", seed: 1)
        _ = try asking.start("b", "every: 10s, word: pauses", seed: 2)
        _ = try await asking.pass { asking.runs.count == 1 }
        try await asking.pass(40)
        await first.die()
        #expect(try await asking.pass { asking.runs.count == 2 } >= 850)
        await asking.stopAll()
    }

    @Test("An interval that has become shorter applies within minutes, although the next run was announced for later")
    func shorter() async throws {
        let servers = SharedServers()
        let server = try servers.start("a", "every: 86400s", seed: 7)
        try await servers.pass(30)
        let turn = try #require(await servers.turn)
        #expect(turn.state == .due && turn.until > servers.clock.now + .seconds(3600))
        try server.engine.replacePolicies(SharedServers.policies(servers.project, "every: 60s, server: a"))
        #expect(try await servers.pass { servers.runs.count == 1 } <= 240)
        await servers.stopAll()
    }

    @Test("A damaged entry is replaced, as is one of a clock that was far ahead")
    func foreign() async throws {
        let far = MaintenanceClaim(.running, by: "x", until: Instant(seconds: 4_000_000_000), failures: 0)
        for value in [Array("no turn".utf8), far.encoded] {
            let servers = SharedServers()
            try await servers.store.put(SharedServers.key, value: value, expires: nil)
            _ = try servers.start("a", "every: 60s", seed: 1)
            #expect(try await servers.pass { servers.runs.count == 1 } <= 180)
            await servers.stopAll()
        }
    }

    @Test("A turn is read as it was written, and nothing else is read as one")
    func encoding() {
        let turn = MaintenanceClaim(.due, by: "00ff", until: Instant(milliseconds: 1_795_262_400_123), failures: 3)
        #expect(MaintenanceClaim(turn.encoded) == turn)
        for text in [
            "", "{}", "[]", #"{"state":"idle","server":"a","until":1,"failures":0}"#,
            #"{"state":"due","server":1,"until":1,"failures":0}"#, #"{"state":"due","server":"a","failures":0}"#,
            #"{"state":"due","server":"a","until":1,"failures":-1}"#,
            #"{"state":"due","server":"a","until":1,"failures":65}"#,
            #"{"state":"due","server":"\#(String(repeating: "a", count: 1024))","until":1,"failures":0}"#,
        ] {
            #expect(MaintenanceClaim(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("A store that only one process can use has no entries about maintenance")
    func alone() async throws {
        let scene = try MaintenanceTests.Scene(["every: 10s"])
        try await scene.run {
            try await scene.pass { scene.records.all.count >= 3 }
        }
        #expect(await scene.store.list(MaintenanceLeases.space, after: nil, limit: 10).isEmpty)
    }
}
