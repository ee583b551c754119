import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Synchronization
import Testing

/// What clients were answered.
private final class Answers: Sendable {
    private let state = Mutex((good: 0, bad: [Int](), isOver: false))

    var good: Int { state.withLock { $0.good } }
    var bad: [Int] { state.withLock { $0.bad } }

    /// Whether clients are to end.
    var isOver: Bool {
        get { state.withLock { $0.isOver } }
        set { state.withLock { $0.isOver = newValue } }
    }

    func add(_ status: Int) {
        state.withLock { if status == 200 { $0.good += 1 } else { $0.bad.append(status) } }
    }
}

@Suite("assay serve loads changed policies")
struct ReloadTests {
    private static let secret = AssayServer.debugToken

    private static func policy(_ extra: String = "") -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                \(extra)
                providers: {debug: {tokens: [{name: local, token: env:ASSAY_DEBUG_TOKEN}]}}

        """
    }

    private static let otherApp = "      - {id: 1:1234567890:ios:aa, providers: {debug: {}}}\n"

    /// Runs a server whose clients never stop, and expects every one of their requests to be answered well.
    private func withBusyServer(
        _ arguments: [String], _ body: (AssayServer, (String) throws -> Void) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            func write(_ text: String) throws {
                try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            }
            try write(Self.policy())
            let server = try await AssayServer(
                in: folder, arguments: arguments, environment: ["ASSAY_DEBUG_TOKEN": Self.secret])
            let answers = Answers()
            // They are told to end and not cancelled: to cancel a request of URLSession may hang (swift-corelibs-foundation).
            let result = await withTaskGroup(of: Void.self) { clients in
                for _ in 0..<3 {
                    clients.addTask {
                        while !answers.isOver {
                            let answer = try? await server.post(
                                "exchangeDebugToken", ["debug_token": .string(Self.secret)])
                            answers.add(answer?.status ?? 0)
                        }
                    }
                }
                defer { answers.isOver = true }
                do {
                    try await body(server, write)
                    // They continue to the end.
                    let before = answers.good
                    try await eventually("requests") { answers.good > before + 10 }
                    return Result<Void, any Error>.success(())
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
            #expect(answers.bad == [])
            let end = await server.end(SIGTERM)
            #expect(end.status == 0)
        }
    }

    private func status(of app: String, _ server: AssayServer) async throws -> Int {
        let url = try #require(URL(string: "\(server.base)/v1/projects/example-project/apps/\(app):exchangeDebugToken"))
        return try await server.post(to: url, ["debug_token": "x"]).status
    }

    @Test("A repair to the policies in force ends the alarm, and SIGHUP without a difference is no change on record")
    func repaired() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            func write(_ text: String) throws {
                try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            }
            try write(Self.policy())
            let server = try await AssayServer(
                in: folder, arguments: ["--watch", "100ms", "--audit", "audit.jsonl"],
                environment: ["ASSAY_DEBUG_TOKEN": Self.secret])
            func isMarked(_ value: Int) async throws -> Bool {
                try await server.text("/metrics").contains("\nassay_policy_last_reload_successful \(value)\n")
            }
            try write("projects: [")
            try await eventually("the failure") { try await isMarked(0) }
            try write(Self.policy())
            try await eventually("the repair") { try await isMarked(1) }
            try await eventually("the log") {
                server.process.errorsSoFar.contains("policies can be read again; nothing differs")
            }
            kill(server.processID, SIGHUP)
            try await eventually("SIGHUP") { server.process.errorsSoFar.contains("policies reloaded") }
            #expect(await server.end(SIGTERM).status == 0)
            let audit = try String(contentsOf: folder.appendingPathComponent("audit.jsonl"), encoding: .utf8)
            #expect(audit.contains("\"event\":\"policies_refused\""))
            #expect(!audit.contains("\"event\":\"policies_changed\""))
        }
    }

    @Test(
        "A changed file is taken while requests continue; a bad one leaves all as it is, and says so until it is mended"
    )
    func changedFile() async throws {
        try await withBusyServer(["--watch", "100ms"]) { server, write in
            let app = "1:1234567890:ios:aa"
            #expect(try await status(of: app, server) == 404)
            #expect(try await server.get("/readyz").body["status"] == "ok")

            try write(Self.policy() + Self.otherApp)
            try await eventually("the new app") { try await status(of: app, server) == 403 }

            try write(Self.policy("colour: red") + "    aps: []\n")
            try await eventually("degraded") { try await server.get("/readyz").body["status"] == "degraded" }
            let (code, body) = try await server.get("/readyz")
            #expect(code == 200)
            #expect(
                body["reason"]?.string?.hasPrefix(
                    "policies: 2 problems, the first at policies/a.yaml:6:9: unknown key `colour`; those of 20")
                    == true, "\(body)")
            let log = server.process.errorsSoFar
            #expect(log.contains("place=policies/a.yaml:6:9"), "\(log)")
            #expect(log.contains("place=policies/a.yaml:8:5"))
            #expect(try await status(of: app, server) == 403)

            try write(Self.policy("name: mended"))
            try await eventually("ready") { try await server.get("/readyz").body["status"] == "ok" }
            #expect(try await status(of: app, server) == 404)

            let policies = server.folder.appendingPathComponent("policies")
            try FileManager.default.removeItem(at: policies)
            try await eventually("degraded") { try await server.get("/readyz").body["status"] == "degraded" }
            #expect(try await server.get("/readyz").body["reason"]?.string?.contains("1 problem at policies: ") == true)
            try write(Self.policy())
            try await eventually("ready") { try await server.get("/readyz").body["status"] == "ok" }
        }
    }

    @Test(
        "As JSON, what is said of a reload are plain texts; apps and OAuth clients, and what was reopened, are named so"
    )
    func jsonLines() async throws {
        let arguments = ["--log-format", "json", "--watch", "never", "--audit", "audit.jsonl"]
        try await withBusyServer(arguments) { server, write in
            let entries = {
                try server.process.errorsSoFar.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
            }
            kill(server.process.process.processIdentifier, SIGHUP)
            try await eventually("a reload") { try entries().contains { $0["message"] == "audit file reopened" } }
            let reload = try #require(try entries().first { $0["message"] == "policies reloaded" })
            #expect(reload["apps"] == "1")
            #expect(reload["oauth_clients"] == "0")
            try write(Self.policy("colour: red"))
            kill(server.process.process.processIdentifier, SIGHUP)
            try await eventually("a problem") { try entries().contains { $0["message"] == "wrong in policies" } }
            let problem = try #require(try entries().first { $0["message"] == "wrong in policies" })
            #expect(problem["problem"] == "unknown key `colour`")
            #expect(problem["hint"]?.string?.hasPrefix("known here: ") == true)
        }
    }

    @Test("On SIGHUP policies are read at once, and secrets with them; no signal is lost, and none ends the server")
    func hangup() async throws {
        try await withBusyServer(["--watch", "never"]) { server, write in
            // The signal may come as soon as the server says that it listens.
            kill(server.process.process.processIdentifier, SIGHUP)
            try await eventually("a reload") { server.process.errorsSoFar.contains("policies reloaded") }

            try write(Self.policy("colour: red"))
            kill(server.process.process.processIdentifier, SIGHUP)
            try await eventually("degraded") { try await server.get("/readyz").body["status"] == "degraded" }

            for _ in 0..<20 {
                kill(server.process.process.processIdentifier, SIGHUP)
                try write(Self.policy("name: \"\(UUID().uuidString)\"") + Self.otherApp)
            }
            // Whatever the last signal found: one more finds what is there now.
            kill(server.process.process.processIdentifier, SIGHUP)
            try await eventually("the new app") { try await status(of: "1:1234567890:ios:aa", server) == 403 }
            #expect(try await server.get("/readyz").body["status"] == "ok")
        }
    }
}
