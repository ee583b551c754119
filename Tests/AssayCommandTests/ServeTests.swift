import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("assay serve")
struct ServeTests {
    private let authority: SimulatedAppleCA
    private let device: SimulatedDevice

    init() throws {
        authority = try SimulatedAppleCA(at: HostClock.system.now)
        device = SimulatedDevice(authority: authority)
    }

    @Test("Keys, artifacts, counters and used challenges survive a kill -9")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let server = try await AssayServer(in: folder)
            let keys = try await server.get("/v1/jwks").body
            let keyID = try device.generateKey()
            let used = try await server.challenge()
            let unused = try await server.challenge()
            let attested = try await server.attest(device, keyID, challenge: used)
            #expect(attested.status == 200)
            let artifact = try #require(attested.body["artifact"]?.string.flatMap { Base64.decode($0) })
            #expect(try await server.assert(device, keyID, artifact, counter: 5).status == 200)
            _ = await server.end(SIGKILL)

            let again = try await AssayServer(in: folder)
            #expect(try await again.get("/v1/jwks").body == keys)
            #expect(try await again.assert(device, keyID, artifact, counter: 5).status == 403)
            #expect(try await again.assert(device, keyID, artifact, counter: 6).status == 200)
            #expect(try await again.attest(device, device.generateKey(), challenge: used).status == 403)
            #expect(try await again.attest(device, device.generateKey(), challenge: unused).status == 200)
            let result = await again.end(SIGTERM)
            #expect(result.errors.contains("challenge_already_used"))
            #expect(result.errors.contains("counter_not_advanced"))
        }
    }

    @Test("Of 50 requests at once with one counter, exactly one gets a token")
    func race() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let server = try await AssayServer(in: folder)
            let keyID = try device.generateKey()
            let attested = try await server.attest(device, keyID, challenge: server.challenge())
            let artifact = try #require(attested.body["artifact"]?.string.flatMap { Base64.decode($0) })
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await server.assert(device, keyID, artifact, counter: 1).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1)
            #expect(statuses.count { $0 == 403 } == 49)
            _ = await server.end(SIGKILL)
        }
    }

    @Test("It answers health checks, and ends with 0 on SIGTERM")
    func health() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let server = try await AssayServer(in: folder)
            #expect(try await server.get("/livez").status == 200)
            #expect(try await server.get("/readyz").status == 200)
            let result = await server.end(SIGTERM)
            #expect(result.status == 0)
            #expect(result.lines.count == 1, "one line says that it listens, and nothing else is printed")
            let mode = try FileManager.default.attributesOfItem(
                atPath: folder.appendingPathComponent("state.sqlite-keys/keys.json").path)[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test("With the example policies, the token in ASSAY_DEBUG_TOKEN is accepted, and none without it")
    func exampleDebugToken() async throws {
        try await withTemporaryFolder { folder in
            let examples = ["--policies", repository.appendingPathComponent("policies").path]
            let body: JSON = ["debug_token": .string(AssayServer.debugToken), "limited_use": true]
            let server = try await AssayServer(
                in: folder, arguments: examples, environment: ["ASSAY_DEBUG_TOKEN": AssayServer.debugToken])
            let issued = try await server.post("exchangeDebugToken", body)
            #expect(issued.status == 200)
            #expect(issued.body["ttl"] == "300s")
            let token = try #require(issued.body["token"]?.string)
            let refused = try await server.post("exchangeDebugToken", ["debug_token": "another secret of theirs"])
            #expect(refused.status == 403)
            #expect(refused.body["error"]?["status"] == "PERMISSION_DENIED")
            let decision = try #require(refused.body["error"]?["details"]?.array?.first?["requestId"]?.string)
            let log = await server.end(SIGTERM).errors
            let line = try #require(log.split(separator: "\n").first { $0.contains(decision) })
            #expect(line.contains("debug_token_unknown"))
            for secret in [AssayServer.debugToken, token, "another secret of theirs"] {
                #expect(!log.contains(secret))
            }

            let without = try await AssayServer(in: folder, arguments: examples)
            #expect(try await without.post("exchangeDebugToken", body).status == 403)
            _ = await without.end(SIGTERM)
        }
    }

    @Test("What prevents it from serving is said, and ends it with 2")
    func cannotServe() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            let missing = try await AssayProcess.run("serve", folder: folder)
            #expect(missing.status == 2)
            #expect(missing.errors.contains("policies: No such file"))

            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data("projects:\n  - numbr: 1\n".utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let wrong = try await AssayProcess.run("serve", folder: folder)
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains("policies/a.yaml:2:5: projects[0].numbr: unknown key"))

            try Data("projects: []\n".utf8).write(to: policies.appendingPathComponent("a.yaml"))
            try Data("this is no database, whatever it says".utf8).write(
                to: folder.appendingPathComponent("bad.sqlite"))
            let state = try await AssayProcess.run("serve", "--state", "sqlite:bad.sqlite", folder: folder)
            #expect(state.status == 2)
            #expect(state.errors.contains("bad.sqlite"))
            let listen = try await AssayProcess.run("serve", "--listen", "nowhere", folder: folder)
            #expect(listen.status == 2)
            let address = try await AssayProcess.run("serve", "--listen", "192.0.2.1:80", folder: folder)
            #expect(address.status == 2)
            #expect(address.errors.contains("assay: --listen: cannot listen on 192.0.2.1, port 80: Cannot assign"))
            #expect(address.errors.contains("no policy defines an app"))
        }
    }

    @Test("A port that is in use is one error with the option and the address, and no listener is announced")
    func portInUse() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let first = try await AssayServer(in: folder)
            let port = try first.port
            for option in ["--listen", "--operations", "--ext-authz-listen"] {
                let others = option == "--listen" ? [] : ["--listen", "127.0.0.1:0"]
                let second = try await AssayProcess(
                    [
                        "serve", "--state", "sqlite:state\(option)", "--keys", "keys\(option)", "--new-keys", "--audit",
                        "audit\(option)", option, "127.0.0.1:\(port)",
                    ]
                        + others, folder: folder
                ).result()
                #expect(second.status == 2)
                let audit = try String(contentsOf: folder.appendingPathComponent("audit\(option)"), encoding: .utf8)
                #expect(!audit.contains("server_started"), "it decided nothing")
                #expect(second.output.isEmpty, "\(second.output)")
                let errors = second.errors.split(separator: "\n").map(String.init)
                #expect(
                    errors.last
                        == "assay: \(option): cannot listen on 127.0.0.1, port \(port): Address already in use; stop the "
                        + "program that uses it, or choose another one")
                for words in [
                    "listening for", "are ready", "no more connections are accepted",
                    "the state store does not answer", "the state store cannot be written", "the readiness has changed",
                ] {
                    #expect(!second.errors.contains(words), "\(second.errors)")
                }
            }
            #expect(await first.end(SIGTERM).status == 0)
        }
    }

    @Test("Fewer connections than wanted, because of the limit on open files, are said with what to do")
    func fewFiles() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let server = try await AssayServer(in: folder, descriptors: 512)
            #expect(
                server.process.errorsSoFar.contains(
                    "at most 384 connections are open at once, not the 10000 of --max-connections: the system lets this process "
                        + "open 512 files; raise that with LimitNOFILE= of systemd, or with `ulimit -n` before the start"
                ),
                "\(server.process.errorsSoFar)")
            #expect(await server.end(SIGTERM).status == 0)
        }
    }
}
