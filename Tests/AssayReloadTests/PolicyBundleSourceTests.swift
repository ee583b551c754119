import AssayCore
import AssayCrypto
import AssayEngine
import AssayHTTPClient
import AssayKit
import AssayPolicy
import AssayServer
import AssayTestSupport
import AssayTesting
import Foundation
import ServiceLifecycle
import Synchronization
import Testing

@Suite("Policies of a signed bundle")
struct PolicyBundleSourceTests {
    @Test(
        "A changed bundle is put in force whole or not at all, by the same path as a folder; the good one stays and is kept"
    )
    func changes() async throws {
        try await BundleScene.run { scene, url in
            let (server, first) = (scene.server, try scene.bundle(5))
            server.upload(first, etag: "\"1\"")
            let source = try await scene.source(url)
            let (engine, policies) = try scene.start(source)
            #expect(source.present?.version == 5)
            #expect(try Array(Data(contentsOf: scene.kept)) == first)
            let reloads = ReloadScene(.policies(in: source, for: engine, present: policies))

            /// Downloads, and reloads as `PolicyBundlePolling` does.
            func poll() async -> Bool {
                let isNew = await source.poll()
                if isNew { reloads.reloader.requestCheck(of: "policies") }
                await reloads.reloader.work()
                return isNew
            }
            #expect(await !poll())
            #expect(server.requests.last?.header("if-none-match") == "\"1\"")
            #expect(reloads.outcomes == [])

            let second = try scene.bundle(6, apps: 2)
            server.upload(second, etag: "\"2\"")
            #expect(await poll())
            #expect(reloads.outcomes == ["policies reloaded"])
            #expect(reloads.log.last?.hasPrefix("notice policies reloaded apps=2 ") == true)
            #expect(source.present?.version == 6)
            #expect(try Array(Data(contentsOf: scene.kept)) == second)
            let revision = engine.revision

            let stranger = try PrivateKey.generate(.ec(.p256))
            let bad: [(body: [UInt8], reason: String)] = [
                (try scene.bundle(7, extra: "colour: red, "), "at assay.bundle/a.yaml:2:24: unknown key `colour`"),
                (try scene.bundle(8, key: stranger), "at assay.bundle: it is signed by the key `"),
                (Array("<html>".utf8), "at assay.bundle: it is not a policy bundle"),
                (first, "at assay.bundle: its version 5 is older than version 6, which was in force here"),
                (try scene.bundle(6, apps: 3), "at assay.bundle: its version 6 was in force here with other content"),
                (try scene.bundle(9, apps: 0), "no policy defines an app"),
                (try scene.bundle(9, issued: HostClock.system.now + .seconds(200_000)), "which is in the future"),
            ]
            for (body, reason) in bad {
                server.upload(body)
                #expect(await poll())
                #expect(reloads.outcomes.last == "policies failed")
                #expect(reloads.reloader.readiness.reason.contains(reason), "\(reloads.reloader.readiness.reason)")
                #expect(source.readiness == .ready)
                #expect(engine.revision == revision)
                #expect(try Array(Data(contentsOf: scene.kept)) == second)
                #expect(await !poll(), "the same bytes are not read again")
            }
            server.upload(second)
            #expect(await poll())
            #expect(reloads.reloader.readiness == .ready)

            // The same policies, signed again: nothing is reloaded, and the version counts.
            server.upload(try scene.bundle(10, apps: 2))
            #expect(await poll())
            #expect(source.present?.version == 10)
            server.upload(second)
            #expect(await poll())
            #expect(reloads.reloader.readiness.reason.contains("older than version 10"))
            #expect(!reloads.log.contains { $0.contains("secret=1") })
        }
    }

    @Test("Another key in the file of a key is loaded, and what it signed before is verified again")
    func rotation() async throws {
        try await BundleScene.run { scene, url in
            let next = try PrivateKey.generate(.ec(.p384))
            scene.server.upload(try scene.bundle(1))
            let source = try await scene.source(url)
            let (engine, policies) = try scene.start(source)
            let reloads = ReloadScene(.policies(in: source, for: engine, present: policies))
            scene.server.upload(try scene.bundle(2, apps: 2, key: next))
            #expect(await source.poll())
            reloads.reloader.requestCheck(of: "policies")
            await reloads.reloader.work()
            #expect(reloads.outcomes == ["policies failed"])
            try scene.write(key: next.publicKey)
            await reloads.look(2)
            #expect(reloads.outcomes == ["policies failed", "policies reloaded"])
            #expect(source.present?.version == 2)
        }
    }

    @Test("Without the URL, a start uses the kept bundle and says so; without one it fails and says why")
    func startWithoutServer() async throws {
        try await BundleScene.run { scene, url in
            scene.server.answer(503)
            let failing = try await scene.source(url)
            let error = #expect(throws: (any Error).self) { try scene.start(failing) }
            #expect("\(try #require(error))".contains("status 503"))
            #expect("\(try #require(error))".contains("no bundle is kept in \(scene.folder.path)/kept"))

            scene.server.upload(try scene.bundle(3))
            _ = try scene.start(try await scene.source(url))
            scene.server.answer(503)
            let source = try await scene.source(url)
            _ = try scene.start(source)
            #expect(source.present?.version == 3)
            #expect(source.readiness.reason.hasPrefix("policy bundle: cannot be downloaded: status 503: "))
            #expect(source.readiness.reason.contains("; version 3 of 20"))
            #expect(scene.log.lines.contains { $0.hasPrefix("the policies of the kept bundle are used: ") })

            // It answers again, with a newer one.
            scene.server.upload(try scene.bundle(4, apps: 2))
            #expect(await source.poll())
            #expect(source.readiness == .ready)
            #expect(scene.log.lines.contains { $0.hasPrefix("the policy bundle can be downloaded again") })
        }
    }

    @Test("A start with a bundle that is refused uses the kept one, and the reload that follows says why")
    func startWithBadBundle() async throws {
        try await BundleScene.run { scene, url in
            scene.server.upload(try scene.bundle(3))
            _ = try scene.start(try await scene.source(url))
            scene.server.upload(try scene.bundle(4, extra: "colour: red, "))
            let source = try await scene.source(url)
            let (engine, policies) = try scene.start(source)
            #expect(source.present?.version == 3)
            let reloads = ReloadScene(.policies(in: source, for: engine, present: policies))
            let group = ServiceGroup(
                services: [reloads.reloader, PolicyBundlePolling(source, reloader: reloads.reloader)],
                logger: scene.log.logger)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                while reloads.outcomes.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            #expect(reloads.outcomes == ["policies failed"])
            #expect(reloads.reloader.readiness.reason.contains("assay.bundle/a.yaml:2:24: unknown key `colour`"))
        }
    }

    @Test("A damaged kept bundle is not used, and the version that was in force is still known")
    func damaged() async throws {
        try await BundleScene.run { scene, url in
            let old = try scene.bundle(3)
            scene.server.upload(try scene.bundle(4))
            _ = try scene.start(try await scene.source(url))
            try FileManager.default.removeItem(at: scene.kept)
            try Data("damaged".utf8).write(to: scene.kept)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scene.kept.path)

            scene.server.answer(503)
            let away = try await scene.source(url)
            #expect(throws: (any Error).self) { try scene.start(away) }
            #expect(
                scene.log.lines.contains { $0.hasPrefix("the kept policy bundle cannot be used error=it is not a") })
            scene.server.upload(old)
            let rolledBack = try await scene.source(url)
            let error = #expect(throws: (any Error).self) { try scene.start(rolledBack) }
            #expect("\(try #require(error))".contains("its version 3 is older than version 4"))
            scene.server.upload(try scene.bundle(5))
            let source = try await scene.source(url)
            _ = try scene.start(source)
            #expect(source.present?.version == 5)

            // The bundle alone tells its version, too.
            try FileManager.default.removeItem(at: scene.newest)
            scene.server.upload(old)
            let kept = try await scene.source(url)
            _ = try scene.start(kept)
            #expect(kept.present?.version == 5)
            try Data("{".utf8).write(to: scene.newest)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scene.newest.path)
            let unknown = await #expect(throws: (any Error).self) { try await scene.source(url) }
            #expect("\(try #require(unknown))".contains("newest.json is damaged"))
        }
    }

    @Test("What cannot be kept is in force, and the service is degraded")
    func notKept() async throws {
        try await BundleScene.run { scene, url in
            try FileManager.default.createDirectory(at: scene.kept, withIntermediateDirectories: true)
            scene.server.upload(try scene.bundle(4))
            let source = try await scene.source(url)
            _ = try scene.start(source)
            #expect(source.present?.version == 4)
            #expect(source.readiness.reason.contains("cannot be kept for the next start: cannot rename "))
        }
    }

    @Test(
        "A bundle that goes out of date stays in force, and the service is degraded; one that was never in force is refused"
    )
    func outOfDate() async throws {
        try await BundleScene.run { scene, url in
            let now = HostClock.system.now
            let old = try scene.bundle(4, issued: now - .seconds(60), expires: now - .seconds(1))
            scene.server.upload(old)
            let new = try await scene.source(url)
            let error = #expect(throws: (any Error).self) { try scene.start(new) }
            #expect("\(try #require(error))".contains("and was never in force here"))

            let clock = ManualClock(now)
            scene.server.upload(try scene.bundle(3, expires: now + .seconds(86_400)))
            let first = try await scene.source(url, clock: clock.hostClock)
            _ = try scene.start(first)
            #expect(first.readiness == .ready)
            // A web server that kept it back for longer than it was good for.
            scene.server.upload(old)
            _ = await first.poll()
            #expect(first.read().problems != nil)
            scene.server.upload(try scene.bundle(3, expires: now + .seconds(86_400)))
            _ = await first.poll()
            clock.advance(by: .seconds(90_000))
            for source in [first, try await scene.source(url, clock: clock.hostClock)] {
                _ = try scene.start(source)
                #expect(source.present?.version == 3)
                #expect(source.readiness.reason.contains("is out of date since 20"))
                #expect(source.readiness.reason.contains("; version 3 of 20"))
            }
        }
    }

    @Test("What could not be kept, or is gone, is kept again after a download")
    func keptAgain() async throws {
        try await BundleScene.run { scene, url in
            try FileManager.default.createDirectory(at: scene.kept, withIntermediateDirectories: true)
            let bytes = try scene.bundle(4)
            scene.server.upload(bytes)
            let source = try await scene.source(url)
            _ = try scene.start(source)
            #expect(source.readiness.reason.contains("cannot be kept"))
            try FileManager.default.removeItem(at: scene.kept)
            _ = await source.poll()
            #expect(source.readiness == .ready)
            #expect(try Array(Data(contentsOf: scene.kept)) == bytes)

            try FileManager.default.removeItem(at: scene.kept.deletingLastPathComponent())
            _ = await source.poll()
            #expect(try Array(Data(contentsOf: scene.kept)) == bytes)
            #expect(FileManager.default.fileExists(atPath: scene.newest.path))
        }
    }

    @Test("Each kind of answer that is no bundle is named, with what to do", .timeLimit(.minutes(2)))
    func answers() async throws {
        try await BundleScene.run { scene, url in
            let location = OutboundHeader("Location", "https://localhost/elsewhere")
            let cases: [(status: Int, headers: [OutboundHeader], body: [UInt8], words: String)] = [
                (404, [], [], "status 404: there is no bundle at this URL"),
                (302, [location], [], "status 302: redirects are not followed"),
                (403, [], [], "status 403: the server demands credentials"),
                (500, [], [], "status 500: the server cannot answer now"),
                (304, [], [], "status 304: expected 200"), (204, [], [], "status 204: expected 200"),
                (200, [], [UInt8](repeating: 0x61, count: PolicyBundle.byteLimit + 1), "more than a bundle may have"),
            ]
            for (status, headers, body, words) in cases {
                scene.server.answer(status, headers, body: body)
                let reason = try await scene.source(url).readiness.reason
                #expect(reason.contains(words), "\(reason)")
            }
            #expect(scene.server.requests.count == cases.count, "no redirect is followed")
            let stranger = try HTTPClientService()
            let refused = try await scene.source(url, client: stranger).readiness.reason
            #expect(refused.contains("is of an authority that is not trusted"), "\(refused)")
            await stranger.shutDown()
            let nobody = try #require(EndpointURL("https://localhost:1/assay.bundle"))
            let unreachable = try await scene.source(nobody).readiness.reason
            #expect(unreachable.contains("is the server running"), "\(unreachable)")
        }
    }

    @Test(
        "A body without end is read up to the limit of a bundle, and a validator that cannot be sent back is not kept")
    func hostileServer() async throws {
        try await BundleScene.run { scene, url in
            let chunked = [OutboundHeader("Transfer-Encoding", "chunked")]
            scene.server.answer(200, chunked, body: [UInt8](repeating: 0x61, count: PolicyBundle.byteLimit + 65_537))
            #expect(try await scene.source(url).readiness.reason.contains("more than a bundle may have"))
            let source = try await scene.source(url)
            scene.server.upload(try scene.bundle(1), etag: "\"" + String(repeating: "a", count: 2000) + "\"")
            #expect(await source.poll())
            #expect(await !source.poll())
            #expect(scene.server.requests.last?.header("if-none-match") == nil)
        }
    }

    @Test("A bundle that is too large for the client alone is said to be so, with the option that mends it")
    func smallClient() async throws {
        try await BundleScene.run { scene, url in
            scene.server.upload([UInt8](repeating: 0x61, count: 100_000))
            let client = try scene.client(responseBytes: 50_000)
            let reason = try await scene.source(url, client: client).readiness.reason
            #expect(reason.contains("more than 50000 bytes, which is the limit of the HTTP client"), "\(reason)")
            #expect(reason.contains("HTTPClientOptions(responseBytes:)"), "\(reason)")
            #expect(!reason.contains("more than a bundle may have"), "\(reason)")
            await client.shutDown()
        }
    }

    @Test(
        "An interval of less than a second, which would ask without a pause, counts as a second",
        arguments: [Duration.zero, .seconds(-20), .milliseconds(999), .seconds(1)])
    func leastInterval(_ interval: Duration) throws {
        let url = try #require(EndpointURL("https://policies.example.com/assay.bundle"))
        let options = PolicyBundleOptions(url: url, keyFiles: [], folder: "kept", interval: interval)
        for _ in 0..<100 { #expect((Duration.milliseconds(500)...(.milliseconds(1500))).contains(options.wait())) }
    }

    @Test("A body that never ends is waited for up to the time limit")
    func stalling() async throws {
        try await BundleScene.run { scene, url in
            scene.server.stall(try scene.bundle(1))
            let start = ContinuousClock.now
            let source = try await scene.source(url, timeLimit: .milliseconds(300))
            #expect(ContinuousClock.now - start < .seconds(15))
            #expect(source.readiness.reason.hasPrefix("policy bundle: cannot be downloaded: localhost:"))
            #expect(throws: (any Error).self) { try scene.start(source) }
        }
    }

    @Test("Of two downloads at once, the one that began last counts")
    func order() async throws {
        try await BundleScene.run { scene, url in
            let (old, new) = (try scene.bundle(1), try scene.bundle(2, apps: 2))
            let http = GatedHTTP([old, new])
            let options = PolicyBundleOptions(
                url: url, keyFiles: [scene.keyFile], folder: scene.folder.appendingPathComponent("kept").path)
            let source = try PolicyBundleSource(options, http: http, logger: scene.log.logger)
            async let late = source.poll()
            await http.first.wait()
            #expect(await source.poll())
            http.second.open()
            #expect(await !late)
            _ = try scene.start(source)
            #expect(source.present?.version == 2)
        }
    }

    @Test("The waits of a source are a half to one and a half of the interval")
    func waits() async throws {
        let url = try #require(EndpointURL("https://policies.example.com/assay.bundle"))
        let options = PolicyBundleOptions(url: url, keyFiles: [], folder: "kept")
        let waits = (0..<1000).map { _ in options.wait() }
        #expect(waits.allSatisfy { (.seconds(10)...(.seconds(30))).contains($0) })
        #expect(Set(waits).count > 100)
    }
}

/// Something that is waited for.
private struct Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}

/// Answers in the order of the requests, the first one when it is told to.
private final class GatedHTTP: OutboundHTTP {
    /// The first request has come.
    let first = Gate()
    /// The first answer may go.
    let second = Gate()
    private let bodies: Mutex<[[UInt8]]>

    init(_ bodies: [[UInt8]]) { self.bodies = Mutex(bodies) }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        let (body, isFirst) = bodies.withLock { ($0.removeFirst(), $0.count == 1) }
        if isFirst {
            first.open()
            await second.wait()
        }
        return OutboundResponse(status: 200, body: body)
    }
}
