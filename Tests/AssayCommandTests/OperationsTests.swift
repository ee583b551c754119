import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@testable import AssayCommand

@Suite("Running assay serve")
struct OperationsTests {
    private let authority: SimulatedAppleCA
    private let device: SimulatedDevice

    init() throws {
        authority = try SimulatedAppleCA(at: HostClock.system.now)
        device = SimulatedDevice(authority: authority)
    }

    private static let environment = ["ASSAY_DEBUG_TOKEN": AssayServer.debugToken]

    @Test("The version is printed, and stands in the metrics and in the first lines of the log")
    func version() async throws {
        let result = try await AssayProcess.run("--version")
        #expect(result.lines == [AssayVersion.text])
        #expect(result.status == 0)
        try await withServer { server, _ in
            let page = try await server.text("/metrics")
            #expect(page.contains("assay_build_info{version=\"\(AssayVersion.text)\"} 1\n"))
            #expect(server.process.errorsSoFar.contains("version=\(AssayVersion.text)"))
        }
    }

    @Test("Metrics tell how decisions ended and why")
    func metrics() async throws {
        try await withServer { server, _ in
            _ = try await server.challenge()
            _ = try await server.post("exchangeDebugToken", ["debug_token": .string(AssayServer.debugToken)])
            _ = try await server.post("exchangeDebugToken", ["debug_token": "another secret of theirs"])
            _ = try await server.post("exchangeDebugToken", ["debug_token": 7])
            _ = try await server.post("exchangeNothing")
            // What strangers make up is no label.
            for name in ["1:2:ios:ab", "1:3:ios:ab", "1:4:ios:ab"] {
                let path = "\(server.base)/v1/projects/example-project/apps/\(name):exchangeDebugToken"
                _ = try await server.post(to: try #require(URL(string: path)), ["debug_token": "x"])
            }
            let page = try await server.text("/metrics")
            #expect(!page.contains("1:2:ios:ab"))
            let app = "app=\"1:1234567890:ios:321abc456def7890\""
            let decision = "assay_decisions_total{method=\"exchangeDebugToken\",provider=\"debug\",outcome="
            for line in [
                "assay_challenges_issued_total{method=\"generateAppAttestChallenge\",provider=\"app_attest\"} 1",
                "\(decision)\"issued\",reason=\"\",\(app)} 1",
                "\(decision)\"refused\",reason=\"debug_token_unknown\",\(app)} 1",
                "\(decision)\"rejected\",reason=\"INVALID_ARGUMENT\",\(app)} 1",
                "\(decision)\"rejected\",reason=\"NOT_FOUND\",app=\"\"} 3",
                "\(decision)\"error\",reason=\"UNAVAILABLE\",app=\"\"} 0", "assay_policy_oauth_clients 0",
                "assay_http_requests_refused_total{status=\"404\"} 1", "assay_policy_apps 1",
                "assay_policy_last_reload_successful 1",
                "assay_decision_duration_seconds_count{method=\"exchangeDebugToken\",outcome=\"issued\"} 1",
            ] {
                #expect(page.contains("\(line)\n"), "\(line)")
            }
        }
    }

    @Test("Without --operations strangers learn that it is alive and ready, and nothing more")
    func noOperations() async throws {
        try await withServer(["--audit", "/dev/full"], isPublic: false) { server, _ in
            #expect(try await server.post("generateAppAttestChallenge").status == 200)
            while !server.process.errorsSoFar.contains("audit records cannot be written") {
                try await Task.sleep(for: .milliseconds(10))
            }
            for path in ["/livez", "/healthz", "/readyz"] {
                let reply = try await server.get(path)
                #expect(reply.status == 200, "\(path)")
                #expect(reply.body == ["status": "ok"], "\(path)")
            }
            #expect(try await server.get("/metrics").status == 404)
        }
    }

    #if os(Linux)
    @Test("As many threads read connections as the server is bound to processors")
    func boundProcessors() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let server = try await AssayServer(
                in: folder, environment: Self.environment, launcher: ["/usr/bin/taskset", "--cpu-list", "0"])
            let tasks = "/proc/\(server.processID)/task"
            let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
                try String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)
            }
            #expect(names.count { $0.hasPrefix("NIO-") } == 1, "\(names)")
            _ = await server.end(SIGTERM)
        }
    }

    @Test("A crash leaves no memory behind, unless that is asked for", arguments: [[], ["--core-dumps"]])
    func coreDumps(_ arguments: [String]) async throws {
        try await withServer(arguments) { server, _ in
            let status = try String(contentsOfFile: "/proc/\(server.processID)/limits", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
            let limits = line.split(separator: " ").suffix(3)
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(server.processID)/mem")
            if arguments.isEmpty {
                #expect(limits.first == "0")
                // What is not dumpable belongs to root (proc(5)).
                #expect((owner[.ownerAccountID] as? NSNumber)?.intValue == 0)
            } else {
                #expect(limits.first == limits.dropFirst().first)
                #expect((owner[.ownerAccountID] as? NSNumber)?.uint32Value == getuid())
            }
            // What the metrics read of the process itself is there in any case.
            let page = try await server.text("/metrics")
            for name in ["process_open_fds", "process_resident_memory_bytes", "process_start_time_seconds"] {
                let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
                #expect(line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0 > 0, "\(name)")
            }
        }
    }
    #endif

    @Test("What connections hold together is in the metrics, with its limits")
    func transport() async throws {
        try await withServer(["--max-transport-bytes", "4194304", "--max-streams", "100"]) { server, _ in
            let page = try await server.text("/metrics")
            for line in [
                "assay_transport_bytes_limit 4194304", "assay_transport_streams_limit 100", "assay_transport_streams 1",
                "assay_transport_refused_total 0",
            ] {
                #expect(page.contains("\(line)\n"), "\(line)")
            }
            #expect(!page.contains("assay_transport_bytes 0\n"))
        }
        for (name, value) in [("--max-transport-bytes", "1000"), ("--max-streams", "0"), ("--operations", "nowhere")] {
            #expect(try await AssayProcess.run("serve", name, value).status == 2)
        }
    }

    @Test("With --operations reasons and metrics are there, and not with the methods")
    func operations() async throws {
        try await withServer(["--operations", "127.0.0.1:0"]) { server, _ in
            // Its log comes by another pipe than the address that the server was waited for with.
            while !server.process.errorsSoFar.contains("listening for operators") {
                try #require(server.process.process.isRunning)
                try await Task.sleep(for: .milliseconds(10))
            }
            let line = try #require(
                server.process.errorsSoFar.split(separator: "\n").first { $0.contains("listening for operators") })
            let base = try #require(line.split(separator: " ").first { $0.hasPrefix("address=") }?.dropFirst(8))
            for path in ["/livez", "/healthz", "/readyz", "/metrics"] {
                #expect(try await server.status("\(base)\(path)") == 200, "\(path)")
                let status = try await server.status("\(server.base)\(path)")
                #expect(status == (path == "/metrics" ? 404 : 200), "\(path)")
            }
            let readiness = try JSON.parse(Array(try await server.page("\(base)/readyz").utf8))
            #expect(readiness["revision"]?.string?.utf8.count == 16)
            let named = base.replacing("127.0.0.1", with: "localhost")
            #expect(try await server.status("\(named)/metrics") == 200)
            #expect(try await server.status("\(base)/v1/jwks") == 404)
            #expect(try await server.status("\(server.base)/v1/jwks") == 200)
        }
    }

    @Test("The audit file has a line for each decision, before and after it was rotated")
    func audit() async throws {
        try await withServer(["--audit", "audit.jsonl"]) { server, folder in
            let file = folder.appendingPathComponent("audit.jsonl")
            let rotated = folder.appendingPathComponent("audit.1")
            _ = try await server.challenge()
            while try self.lines(file).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            try FileManager.default.moveItem(at: file, to: rotated)
            kill(server.process.process.processIdentifier, SIGHUP)
            while !FileManager.default.fileExists(atPath: file.path) { try await Task.sleep(for: .milliseconds(10)) }
            let reply = try await server.post("exchangeDebugToken", ["debug_token": "another secret of theirs"])
            let decision = try #require(reply.body["error"]?["details"]?.array?.first?["requestId"])
            #expect(await server.end(SIGTERM).status == 0)
            #expect(try self.lines(rotated).compactMap { $0["outcome"] } == ["challenged"])
            let last = try #require(try self.lines(file).first)
            #expect(last["decision"] == decision)
            #expect(last["reason"] == "debug_token_unknown")
            #expect(last["peer"] == "127.0.0.1")
        }
    }

    #if os(Linux)
    @Test(
        "While audit records cannot be written, decisions continue or not, as the operator chose",
        arguments: [true, false])
    func auditFull(_ isRequired: Bool) async throws {
        try await withServer(["--audit", "/dev/full"] + (isRequired ? ["--audit-required"] : [])) { server, _ in
            // The start of the server is the first record.
            while try await server.get("/readyz").body["status"] == "ok" {
                try await Task.sleep(for: .milliseconds(10))
            }
            let readiness = try await server.get("/readyz")
            #expect(readiness.status == (isRequired ? 503 : 200))
            let words = isRequired ? readiness.body["error"]?["message"] : readiness.body["reason"]
            #expect(words == "audit records cannot be written")
            #expect(try await server.post("generateAppAttestChallenge").status == (isRequired ? 503 : 200))
            let page = try await server.text("/metrics")
            #expect(page.contains("assay_audit_writable{file=\"/dev/full\"} 0\n"))
            let result = await server.end(SIGTERM)
            #expect(result.status == 0)
            #expect(result.errors.contains("audit records cannot be written and wait"))
            #expect(result.errors.contains("No space left on device"))
            #expect(result.errors.contains("audit records are lost"))
        }
    }

    @Test("An audit file that cannot be written takes no record from the others, nor a line from the log")
    func oneAuditFull() async throws {
        try await withServer(["--audit", "/dev/full", "--audit", "good.jsonl"]) { server, folder in
            while try await server.get("/readyz").body["status"] == "ok" {
                try await Task.sleep(for: .milliseconds(10))
            }
            let body: JSON = ["debug_token": "00000000-0000-4000-8000-000000000000"]
            #expect(try await server.post("exchangeDebugToken", body).status == 403)
            let file = folder.appendingPathComponent("good.jsonl")
            try await eventually("the record") { try lines(file).contains { $0["outcome"] == "refused" } }
            #expect(server.process.errorsSoFar.contains("reason=debug_token_unknown"))
        }
    }

    @Test(
        "A full disk makes it not ready and keeps others going, and it recovers",
        .enabled(if: SmallDisk.isPossible, "mounting a file system needs root"))
    func fullDisk() async throws {
        try await SmallDisk.with(kibibytes: 512) { disk in
            try await withServer(["--state", "sqlite:\(disk)/state.sqlite"]) { server, _ in
                #expect(try await server.get("/readyz").status == 200)
                let filler = "\(disk)/filler"
                SmallDisk.fill(filler)
                // What was found out before is good for some seconds.
                while try await server.get("/readyz").status == 200 { try await Task.sleep(for: .milliseconds(100)) }
                let readiness = try await server.get("/readyz")
                let message = try #require(readiness.body["error"]?["message"]?.string)
                #expect(message.hasPrefix("the state store cannot be written: "))
                #expect(message.contains("full"), "\(message)")
                #expect(try await server.get("/healthz").status == 200)
                let body: JSON = ["debug_token": .string(AssayServer.debugToken)]
                #expect(try await server.post("exchangeDebugToken", body).status == 200)
                #expect(try await server.get("/v1/jwks").status == 200)
                try FileManager.default.removeItem(atPath: filler)
                while try await server.get("/readyz").status != 200 { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
    }

    @Test("With hardly any file descriptors it continues, and serves the next one when others have left")
    func descriptors() async throws {
        // So few that connections are refused by the system before they reach the server's own limit.
        try await withServer([], limit: 34) { server, _ in
            try await server.unlessLibdispatchEndsIt {
                let port = try #require(UInt16(server.base.split(separator: ":").last ?? ""))
                var sockets = (0..<60).compactMap { _ in IdleConnection(port: port) }
                #expect(sockets.count == 60)
                while !server.process.errorsSoFar.contains("a connection cannot be accepted") {
                    try #require(server.process.process.isRunning)
                    try await Task.sleep(for: .milliseconds(20))
                }
                sockets = []
                #expect(try await server.get("/healthz").status == 200)
                let failures = try await server.text("/metrics").split(separator: "\n")
                    .first { $0.hasPrefix("assay_http_accept_failures_total ") }
                #expect(failures != nil && failures != "assay_http_accept_failures_total 0")
            }
        }
    }
    #endif

    @Test("As JSON, every line that the log has is an object, from the first to the last")
    func jsonLog() async throws {
        try await withServer(["--log-format", "json", "--log-level", "debug"]) { server, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask { _ = try await server.post("exchangeDebugToken", ["debug_token": "not this one"]) }
                    group.addTask { _ = try await server.get("/nothing") }
                }
                try await group.waitForAll()
            }
            let result = await server.end(SIGTERM)
            let lines = try result.errors.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
            for line in lines {
                for name in ["time", "level", "label", "source", "message"] { #expect(line[name]?.string != nil) }
                #expect(line["time"]?.string.flatMap { Instant(rfc3339: $0) } != nil)
            }
            #expect(lines.count { $0["reason"] == "debug_token_unknown" } == 50)
            #expect(lines.count { $0["message"] == "request refused" && $0["status"] == 404 } == 50)
        }
    }

    @Test("As JSON, what prevents it from serving is an object too")
    func jsonFailure() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data("projects:\n  - numbr: 1\n".utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let wrong = try await AssayProcess.run("serve", "--log-format", "json", folder: folder)
            #expect(wrong.status == 2)
            let lines = try wrong.errors.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
            let line = try #require(lines.first { $0["path"] == "projects[0].numbr" })
            #expect(line["level"] == "critical")
            #expect(line["place"] == "policies/a.yaml:2:5")
            #expect(line["problem"]?.string?.hasPrefix("unknown key") == true)

            try Data("projects: []\n".utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let audit = try await AssayProcess.run(
                "serve", "--log-format", "json", "--state", "memory", "--audit", "/proc/no/such/file", folder: folder)
            #expect(audit.status == 2)
            let last = try #require(try audit.errors.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }.last)
            #expect(last["error"] == "cannot open the audit file /proc/no/such/file: No such file or directory")
            let flags = try await AssayProcess.run("serve", "--audit-required", folder: folder)
            #expect(flags.status == 2)
        }
    }

    @Test(
        "No secret and no whole token is in the log, in the audit file or in the metrics", arguments: LogFormat.allCases
    )
    func secrets(_ format: LogFormat) async throws {
        let arguments = ["--log-format", format.rawValue, "--log-level", "debug", "--audit", "audit.jsonl"]
        try await withServer(arguments) { server, folder in
            var secrets = [AssayServer.debugToken, AssayServer.debugToken.lowercased(), "a wrong secret of theirs"]
            let debug = try await server.post("exchangeDebugToken", ["debug_token": .string(AssayServer.debugToken)])
            secrets.append(try #require(debug.body["token"]?.string))
            _ = try await server.post("exchangeDebugToken", ["debug_token": "a wrong secret of theirs"])
            let keyID = try device.generateKey()
            let challenge = try await server.challenge()
            let attested = try await server.attest(device, keyID, challenge: challenge)
            let artifact = try #require(attested.body["artifact"]?.string)
            secrets += [Base64.encode(challenge), artifact]
            secrets.append(try #require(attested.body["appCheckToken"]?["token"]?.string))
            let bytes = try #require(Base64.decode(artifact))
            let asserted = try await server.assert(device, keyID, bytes)
            secrets.append(try #require(asserted.body["token"]?.string))
            _ = try await server.assert(device, keyID, Array(bytes.dropLast() + [0]))
            _ = try await server.attest(device, keyID, challenge: challenge)
            // Where clients put keys and tokens by mistake.
            let token = try #require(debug.body["token"]?.string)
            _ = try await server.get("/v1/\(token)?key=\(AssayServer.debugToken)")
            _ = try await server.get("/v1/projects/\(token)/apps/a:exchangeDebugToken")
            let page = try await server.text("/metrics")
            let log = await server.end(SIGTERM).errors
            let audit = try String(contentsOf: folder.appendingPathComponent("audit.jsonl"), encoding: .utf8)
            #expect(audit.split(separator: "\n").count { $0.contains("\"decision\"") } == 9)
            let jwt = /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/
            for (name, text) in [("log", log), ("audit", audit), ("metrics", page)] {
                for secret in secrets { #expect(!text.contains(secret), "\(secret) is in the \(name)") }
                #expect(text.firstMatch(of: jwt) == nil, "\(name)")
                #expect(!text.contains("PRIVATE KEY"))
            }
        }
    }

    // MARK: -

    private func withServer(
        _ arguments: [String] = [], limit: Int? = nil, isPublic: Bool = true,
        _ body: (AssayServer, URL) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let server = try await AssayServer(
                in: folder, arguments: arguments, environment: Self.environment, descriptors: limit,
                showsOperations: isPublic)
            do {
                try await body(server, folder)
            } catch {
                _ = await server.end(SIGKILL)
                throw error
            }
            if server.process.process.isRunning { _ = await server.end(SIGTERM) }
        }
    }

    private func lines(_ file: URL) throws -> [JSON] {
        try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { try JSON.parse(Array($0)) }
    }
}
