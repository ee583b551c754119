import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTestSupport
import AssayTesting
import Foundation
import Logging
import Synchronization
import Testing

@testable import AssayProcesses

@Suite("Processes that fail, lie or hang")
struct UnrulyProcessTests {
    @Test("A process that ends is started again, and its instances are made anew", arguments: ["crash", "abort"])
    func crash(says: String) async throws {
        try await ProcessBench.with { bench in
            let reply = await bench.say(says)
            #expect(reply.code == .unavailable)
            try await ProcessBench.wait { await bench.say("genuine").code == nil }
            #expect(bench.log.lines.contains { $0.contains("is started again") && $0.contains("plugin=widget") })
        }
    }

    @Test("A process that is stopped by a signal is missed, ended and started again")
    func frozen() async throws {
        let settings = ProcessBench.settings { settings, _ in
            settings.limits.healthInterval = .milliseconds(50)
            settings.limits.healthTime = .milliseconds(500)
            settings.limits.endTime = .milliseconds(200)
        }
        try await ProcessBench.with(settings) { bench in
            async let reply = bench.say("freeze")
            try await ProcessBench.wait {
                bench.log.lines.contains { $0.contains("three questions about its health") || $0.contains("signal 9") }
            }
            #expect(await reply.code != nil)
            try await ProcessBench.wait { await bench.say("genuine").code == nil }
        }
    }

    @Test("A call that hangs is answered in time, and others meanwhile")
    func hang() async throws {
        try await ProcessBench.with(ProcessBench.settings("slow")) { bench in
            let clock = bench.engine.clock
            // Nothing moves the clock yet, by which the call has 300 ms.
            let hanging = Task { await bench.engine.call("exchangeWidget", TestEngine.app, ["say": "hang"]) }
            #expect(await bench.engine.call("exchangeWidget", TestEngine.app, ["say": "genuine"]).code == nil)
            let advancing = Task {
                while !Task.isCancelled {
                    clock.advance(by: .milliseconds(100))
                    try? await Task.sleep(for: .milliseconds(10))
                }
            }
            #expect(await hanging.value.code != nil)
            advancing.cancel()
            #expect(await bench.say("genuine").code == nil)
        }
    }

    @Test(
        "A process that is not what it should be is not used, and the reason is said",
        arguments: [
            ("exit", "status 7"), ("version", "speaks version 9"), ("name", "'another'"), ("keys", "'Not A Key'"),
            ("consumer", "consumer 'desk'"),
        ])
    func wrong(mode: String, words: String) async throws {
        let settings = ProcessBench.settings(mode) { settings, _ in settings.limits.restarts = 0 }
        let processes = await ProcessPlugins.start([settings], logger: .init(label: "test"))
        let registry = try Registry(processes.plugins)
        let health = try #require(registry.health.first)
        #expect(health.state == .unavailable)
        #expect(health.reason?.contains(words) == true, "\(health.reason ?? "")")
        do {
            _ = try TestEngine(
                processes.plugins, policy: TestEngine.policy(providers: "widget: {factory: north}"))
            Issue.record("a policy named it")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
        await processes.stop()
    }

    @Test("A method that no plugin may declare is refused by the registry")
    func registry() async throws {
        let processes = await ProcessPlugins.start([ProcessBench.settings("method")], logger: .init(label: "test"))
        #expect(throws: RegistryError.self) { try Registry(processes.plugins) }
        await processes.stop()
    }

    @Test("An executable that is missing or another one is not started")
    func executables() async throws {
        let changes: [(@Sendable (inout ProcessCommand) -> Void, String)] = [
            ({ $0.words[0] = "/nonexistent/plugin" }, "No such file"),
            ({ $0.words[0] = "/tmp" }, "denied"),
            ({ $0.digest = [UInt8](repeating: 0, count: 32) }, "SHA-256"),
            ({ $0.user = "nobody-of-that-name" }, "no user"),
        ]
        for (change, words) in changes {
            let settings = ProcessBench.settings { settings, command in
                settings.limits.restarts = 0
                change(&command)
            }
            let processes = await ProcessPlugins.start([settings], logger: .init(label: "test"))
            let health = try #require(try Registry(processes.plugins).health.first)
            #expect(health.state == .unavailable)
            #expect(health.reason?.contains(words) == true, "\(health.reason ?? "")")
            await processes.stop()
        }
    }

    @Test("The pinned executable is started, with the environment of its settings and nothing of ours")
    func environment() async throws {
        let digest = SHA256.hash(Array(try Data(contentsOf: URL(fileURLWithPath: ProcessBench.executable))))
        let settings = ProcessBench.settings { _, command in
            command.digest = digest
            command.environment = [("COLOUR", "red")]
        }
        try await ProcessBench.with(settings) { bench in
            let facts = try #require(bench.serial(await bench.say("environment")))
            #expect(facts.hasPrefix("ASSAY_PLUGIN_SOCKET,COLOUR session=own files="), "\(facts)")
            #expect(facts.hasSuffix("files="), "\(facts)")
        }
    }

    @Test("Another user's process has that user's rights only", .enabled(if: getuid() == 0, "needs root"))
    func user() async throws {
        let settings = ProcessBench.settings { _, command in command.user = "nobody" }
        // Others must reach the executable.
        let folder = URL(fileURLWithPath: "/tmp/assay-plugin-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("plugin").path
        // A file that this process writes may still be open in a process that another test starts meanwhile, and is then "busy".
        let copying = ChildProcess()
        copying.executableURL = URL(fileURLWithPath: "/bin/cp")
        copying.arguments = [ProcessBench.executable, copy]
        try copying.run()
        copying.waitUntilExit()
        #expect(copying.terminationStatus == 0)
        var moved = settings
        guard case .command(var command) = moved.origin else { return }
        command.words[0] = copy
        moved.origin = .command(command)
        try await ProcessBench.with(moved) { bench in
            #expect(await bench.say("genuine").code == nil)
            #expect(bench.serial(await bench.say("store")) == "true value once")
        }
    }

    @Test("A process that is asked to end and does not is made to, and its sockets are removed")
    func end() async throws {
        let settings = ProcessBench.settings("stubborn") { settings, _ in
            settings.limits.endTime = .milliseconds(300)
        }
        try await ProcessBench.with(settings) { bench in #expect(await bench.say("genuine").code == nil) }
    }

    #if os(Linux)
    @Test(
        "What a process leaves behind goes with it: files in its folder, and what it detached",
        arguments: ["exit", "crash"])
    func litter(_ end: String) async throws {
        let left = Mutex("")
        try await ProcessBench.with { bench in
            let words = try #require(bench.serial(await bench.say("litter")))
            left.withLock { $0 = words }
            let parts = words.split(separator: " ")
            #expect(parts.count == 3)
            #expect(FileManager.default.fileExists(atPath: "\(parts[0])/cache"))
            #expect(parts.dropFirst().allSatisfy { Self.isAlive($0) })
            if end == "crash" {
                #expect(await bench.say("crash").code == .unavailable)
                try await ProcessBench.wait { await bench.say("genuine").code == nil }
                #expect(!parts.dropFirst().contains { Self.isAlive($0) })
                #expect(!FileManager.default.fileExists(atPath: String(parts[0])))
            }
        }
        let parts = left.withLock(\.self).split(separator: " ")
        #expect(!parts.dropFirst().contains { Self.isAlive($0) })
        #expect(!FileManager.default.fileExists(atPath: String(parts[0])))
        // What a link leads to is nobody's folder.
        #expect(FileManager.default.fileExists(atPath: "/tmp"))
    }

    /// Whether a process runs; one that nobody has waited for does not.
    private static func isAlive(_ process: Substring) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return status.split(separator: " ").dropFirst(2).first != "Z"
    }
    #endif

    @Test("Starts that fail are few, and then it is given up")
    func restarts() async throws {
        let settings = ProcessBench.settings { settings, _ in
            settings.limits.restarts = 2
            settings.limits.firstPause = .milliseconds(5)
        }
        try await ProcessBench.with(settings) { bench in
            try await ProcessBench.wait {
                _ = await bench.say("crash")
                return bench.log.lines.contains { $0.contains("is given up") }
            }
            #expect(bench.log.lines.filter { $0.contains("is started again") }.count == 2)
            #expect(await bench.say("genuine").code == .unavailable)
        }
    }

    @Test("What the plugin says of its own health is shown")
    func health() async throws {
        let settings = ProcessBench.settings { settings, _ in settings.limits.healthInterval = .milliseconds(20) }
        try await ProcessBench.with(settings) { bench in
            _ = await bench.say("ill")
            try await ProcessBench.wait {
                bench.engine.engine.pluginHealth.first { $0.name == "widget" }?.reason
                    == "the sensor is\u{FFFD}wet"
            }
            #expect(
                await bench.engine.engine.readiness
                    == .degraded("the provider widget fails: the sensor is\u{FFFD}wet"))
        }
    }

    @Test("Lines that it prints are logged without what steers a terminal, and a flood of them is cut")
    func output() async throws {
        try await ProcessBench.with { bench in
            _ = await bench.say("print")
            try await ProcessBench.wait {
                bench.log.lines.contains { $0.contains("line=a line\u{FFFD}[2J of the plugin") }
            }
            _ = await bench.say("flood")
            try await ProcessBench.wait { bench.log.lines.contains { $0.contains("lines were dropped") } }
            #expect(bench.log.lines.filter { $0.contains("line=line ") }.count < 1000)
        }
    }
}

@Suite("What a process may ask of Assay")
struct HostServiceTests {
    @Test("It has a state of its own, in the space of its app")
    func store() async throws {
        try await ProcessBench.with { bench in
            #expect(bench.serial(await bench.say("store")) == "true value once")
            #expect(bench.serial(await bench.say("store")) == "false value once")
            let entries = try await bench.engine.store.list("widget/\(TestEngine.app)", after: nil, limit: 10)
            #expect(entries.map(\.name) == ["once"])
        }
    }

    @Test("A call has as many writes and requests as its limits allow")
    func limits() async throws {
        try await ProcessBench.with { bench in
            #expect(bench.serial(await bench.say("write"))?.contains("16 writes") == true)
            #expect(bench.serial(await bench.say("ask"))?.contains("256 requests") == true)
        }
    }

    @Test("A call that is over can no longer be cited")
    func calls() async throws {
        try await ProcessBench.with { bench in
            _ = await bench.say("genuine")
            #expect(bench.serial(await bench.say("previous"))?.contains("no such call") == true)
        }
    }

    @Test("What is sealed for it can be opened by it")
    func seal() async throws {
        try await ProcessBench.with { bench in #expect(bench.serial(await bench.say("seal")) == "true plain") }
    }

    @Test("It gets the secrets that its section names, and no others")
    func secrets() async throws {
        try await ProcessBench.with(section: "widget: {factory: north, key: 'env:WIDGET_KEY'}") { bench in
            #expect(bench.serial(await bench.say("secret")) == "19 bytes")
            #expect(bench.serial(await bench.say("other_secret"))?.contains("permissionDenied") == true)
        }
    }

    @Test("It calls other servers through Assay")
    func fetch() async throws {
        let server = ScriptedHTTP([.success(OutboundResponse(status: 203, body: Array("hello".utf8)))])
        try await ProcessBench.with(http: server) { bench in
            #expect(bench.serial(await bench.say("fetch")) == "203 hello")
            #expect(bench.serial(await bench.say("fetch"))?.contains("unavailable") == true)
            #expect(server.requests.count == 2)
        }
    }

    @Test("What it logs carries the decision")
    func log() async throws {
        try await ProcessBench.with { bench in
            let reply = await bench.say("log")
            #expect(
                bench.log.lines.contains {
                    $0.hasPrefix("a word\u{FFFD}of the plugin") && $0.contains("decision=\(reply.decision)")
                })
        }
    }
}
