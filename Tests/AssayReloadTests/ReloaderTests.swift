import AssayCore
import AssayKit
import AssayServer
import AssayTesting
import Logging
import ServiceLifecycle
import Testing

@Suite("What runs by files loads their changes")
struct ReloaderTests {
    @Test("A change is taken when it has held still from one look to the next")
    func stillness() async {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        await scene.look(3)
        #expect(things.readings == [])
        things.set(1)
        await scene.look()
        #expect(things.readings == [])
        things.set(2)
        await scene.look()
        #expect(things.readings == [])
        await scene.look()
        #expect(things.readings == [2])
        await scene.look(3)
        #expect(things.readings == [2])
        #expect(scene.outcomes == ["things reloaded"])
        #expect(scene.log == ["notice things reloaded version=2"])
    }

    @Test("Files that keep changing are read after ten seconds nevertheless, and the log says so until they hold still")
    func unrest() async {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        func change(_ versions: ClosedRange<Int>) async {
            for version in versions {
                things.set(version)
                await scene.look()
            }
        }
        await change(1...10)
        #expect(things.readings == [])
        await change(11...11)
        #expect(things.readings == [11])
        await change(12...21)
        #expect(things.readings == [11])
        await change(22...22)
        #expect(things.readings == [11, 22])
        let line = "warning the files of things keep changing: they are read as they are seconds=10"
        #expect(scene.log == [line, "notice things reloaded version=11", "notice things reloaded version=22"])
        #expect(scene.reloader.readiness == .ready)

        await scene.look(3)
        await change(23...33)
        #expect(things.readings == [11, 22, 33])
        #expect(scene.log.count { $0 == line } == 2)

        things.fail(FakeSubject.Failure(description: "no good"))
        await change(34...44)
        #expect(scene.reloader.readiness != .ready)
    }

    @Test("A change since before the service began is seen, and one that is taken back is none")
    func baseline() async {
        let things = FakeSubject()
        let before = FileFingerprint(of: ["/proc/no/such/0"])
        things.set(1)
        let subject = ReloadSubject("things", fingerprint: { FileFingerprint(of: ["/proc/no/such/1"]) }, loaded: before)
        {
            things.set(2)
            return nil
        }
        let scene = ReloadScene(subject)
        await scene.look(2)
        #expect(scene.outcomes == ["things unchanged"])
        #expect(scene.log == [])

        let other = FakeSubject()
        let quiet = ReloadScene(other.subject())
        other.set(1)
        await quiet.look()
        other.set(0)
        await quiet.look(3)
        #expect(quiet.outcomes == [])
    }

    @Test("On request everything is read at once, changed or not, and whether it is watched or not")
    func request() async {
        let (watched, unwatched) = (FakeSubject(), FakeSubject())
        let scene = ReloadScene(watched.subject("first"), unwatched.subject("second", isWatched: false))
        await scene.ask()
        await scene.ask()
        #expect(scene.outcomes == ["first reloaded", "second reloaded", "first unchanged", "second unchanged"])
        unwatched.set(5)
        await scene.look(3)
        #expect(unwatched.readings == [0, 0])
    }

    @Test("A caller that waits for a reload finds everything read, or what failed in the readiness")
    func waiting() async {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        things.set(1)
        await scene.reloader.reload()
        #expect(things.readings == [1])
        #expect(scene.reloader.readiness == .ready)
        things.fail(FakeSubject.Failure(description: "no good"))
        await scene.reloader.reload()
        #expect(scene.reloader.readiness != .ready)
        things.fail(nil)
        await scene.reloader.reload()
        #expect(scene.reloader.readiness == .ready)
        #expect(scene.outcomes.count == 3, "one attempt each")
    }

    @Test("What changes while it is read is read again")
    func changeDuringReading() async {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        things.set(1)
        things.during { things.set(2) }
        await scene.look(2)
        #expect(things.readings == [1])
        things.during(nil)
        await scene.look(2)
        #expect(things.readings == [1, 2])
    }

    @Test("A request in the midst of a reload is not lost, and neither are two of them")
    func requestDuringReading() async {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        things.during {
            scene.reloader.requestReload()
            scene.reloader.requestReload()
        }
        await scene.ask()
        things.during(nil)
        await scene.reloader.work()
        await scene.reloader.work()
        #expect(things.readings == [0, 0])
    }

    @Test("Of what is opened anew and not read, the log says that")
    func reopening() async {
        let scene = ReloadScene(ReloadSubject("good", action: .reopen) { ["file": "audit.jsonl"] })
        await scene.ask()
        #expect(scene.log == ["notice good reopened file=audit.jsonl"])

        let bad = ReloadScene(
            ReloadSubject("bad", action: .reopen) { throw FakeSubject.Failure(description: "no good") })
        await bad.ask()
        #expect(bad.log == ["error bad cannot be reopened: no change is applied error=no good"])
        let degraded = Readiness.degraded(
            "bad: could not be reopened: no good; the one of 2026-11-21T12:00:00Z stays in use")
        #expect(bad.reloader.readiness == degraded)
    }

    @Test("What cannot be read leaves all as it is: said once, degraded, and good again after a good reading")
    func failure() async {
        let (things, others) = (FakeSubject(), FakeSubject())
        let scene = ReloadScene(things.subject(), others.subject("others"))
        #expect(scene.reloader.readiness == .ready)
        things.set(1)
        things.fail(FakeSubject.Failure(description: "no good"))
        await scene.look(2)
        let degraded = Readiness.degraded(
            "things: could not be reloaded: no good; those of 2026-11-21T12:00:00Z stay in force")
        #expect(scene.reloader.readiness == degraded)
        await scene.look(5)
        #expect(scene.log == ["error things cannot be reloaded: no change is applied error=no good"])
        #expect(scene.outcomes == ["things failed"])

        others.set(1)
        await scene.look(2)
        #expect(others.readings == [1])
        #expect(scene.reloader.readiness == degraded)

        things.fail(nil)
        things.set(0)
        await scene.look(2)
        #expect(things.readings == [0])
        #expect(scene.reloader.readiness == .ready)
        #expect(scene.outcomes == ["things failed", "others reloaded", "things reloaded"])
    }

    @Test("A failure is tried again after a while though no file has changed, and said again only when it is another")
    func retry() async {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        things.fail(FakeSubject.Failure(description: "no secret"))
        await scene.ask()
        await scene.look(9)
        #expect(scene.outcomes.count == 1)
        await scene.look()
        #expect(scene.outcomes.count == 2)
        #expect(scene.log.count == 1)
        things.fail(FakeSubject.Failure(description: "another"))
        await scene.look(10)
        #expect(scene.log.count == 2)
        await scene.ask()
        #expect(scene.log.count == 3)
        things.fail(nil)
        await scene.look(10)
        #expect(scene.outcomes.last == "things reloaded")
        #expect(scene.reloader.readiness == .ready)
    }

    @Test("As a service it looks at every interval, answers requests, and ends on shutdown", .timeLimit(.minutes(20)))
    func service() async throws {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject())
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: scene.reloader)],
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            scene.reloader.requestReload()
            while things.readings != [0] { try await Task.sleep(for: .milliseconds(1)) }
            things.set(7)
            while things.readings != [0, 7] {
                scene.clock.advance(by: .seconds(1))
                try await Task.sleep(for: .milliseconds(1))
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test("Without an interval nothing is looked at", .timeLimit(.minutes(20)))
    func noInterval() async throws {
        let things = FakeSubject()
        let scene = ReloadScene(things.subject(), interval: nil)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await scene.reloader.run() }
            things.set(1)
            scene.reloader.requestReload()
            while things.readings != [1] { try await Task.sleep(for: .milliseconds(1)) }
            #expect(scene.clock.sleeperCount == 0)
            tasks.cancelAll()
        }
    }
}
