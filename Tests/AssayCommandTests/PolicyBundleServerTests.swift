import AssayCore
import AssayHTTPClient
import AssayTestSupport
import AssayTesting
import AssayTestingHTTP
import Foundation
import Synchronization
import Testing

/// A web server with HTTPS that has one file.
private final class FileServer: Sendable {
    private let state = Mutex((body: [UInt8]?.none, requests: 0))

    var requests: Int { state.withLock { $0.requests } }

    /// Nil for a file that is missing.
    func upload(_ body: [UInt8]?) { state.withLock { $0.body = body } }

    func answer() -> ScriptedAnswer {
        state.withLock { state in
            state.requests += 1
            return .respond(OutboundResponse(status: state.body == nil ? 404 : 200, body: state.body ?? []))
        }
    }
}

@Suite("assay serve takes its policies from a signed bundle")
struct PolicyBundleServerTests {
    /// The bundle of policies with a number of apps, as the command makes it.
    private func bundle(_ number: Int, apps: Int, extra: String = "", in folder: URL) async throws -> [UInt8] {
        let policies = folder.appendingPathComponent("source-\(number)")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        try Data((BundlePolicies.text(apps: apps) + extra).utf8).write(to: policies.appendingPathComponent("a.yaml"))
        let created = try await AssayProcess.run(
            "policy", "bundle", "create", "--key", "policies.key", "--out", "new.bundle", "--number", "\(number)",
            "--allow-errors", policies.path, folder: folder)
        try #require(created.status == 0, "\(created.errors)")
        return try Array(Data(contentsOf: folder.appendingPathComponent("new.bundle")))
    }

    @Test(
        "It starts with the bundle, loads a changed one, refuses bad and older ones, and starts again without the URL"
    )
    func server() async throws {
        try await withTemporaryFolder { folder in
            try await BundlePolicies.makeKeys(in: folder)
            let identity = try TestIdentity()
            try Data(identity.certificatePEM.utf8).write(to: folder.appendingPathComponent("ca.pem"))
            // A relative path of a policy begins at the folder that the server runs in.
            let token = folder.appendingPathComponent("token")
            try Data(AssayServer.debugToken.utf8).write(to: token)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token.path)
            let files = FileServer()
            let local = LocalServer(
                identity: .init(
                    certificates: try HTTPClientOptions.certificates(pem: Array(identity.certificatePEM.utf8)),
                    privateKeyPEM: identity.keyPEM)
            ) { _ in files.answer() }
            let first = try await bundle(1, apps: 1, in: folder)
            files.upload(first)
            let port = try await local.run { port in
                let server = try await start(port, in: folder)
                try await serve(server, files, first: first, in: folder)
                return port
            }
            // The web server is away.
            let server = try await start(port, in: folder)
            #expect(try await status(of: "a2", server) == 403)
            let (code, body) = try await server.get("/readyz")
            #expect(code == 200)
            #expect(
                body["reason"]?.string?.hasPrefix("policy bundle: cannot be downloaded: localhost:\(port): ") == true)
            #expect(server.process.errorsSoFar.contains("the policies of the kept bundle are used"))
            #expect(await server.end(SIGTERM).status == 0)
        }
    }

    private func start(_ port: Int, in folder: URL) async throws -> AssayServer {
        try await AssayServer(
            in: folder,
            arguments: [
                "--policies", "https://localhost:\(port)/assay.bundle", "--bundle-key", "policies.pub", "--bundle-ca",
                "ca.pem",
                "--bundle-interval", "1s", "--audit", "audit.jsonl",
            ])
    }

    private func serve(_ server: AssayServer, _ files: FileServer, first: [UInt8], in folder: URL) async throws {
        #expect(try await status(of: "a0", server) == 403)
        #expect(try await status(of: "a0", server, AssayServer.debugToken) == 200)
        #expect(try await status(of: "a1", server) == 404)
        #expect(try await server.get("/readyz").body["status"] == "ok")

        files.upload(try await bundle(2, apps: 2, in: folder))
        try await eventually("the new app") { try await status(of: "a1", server) == 403 }
        let bad: [(bundle: [UInt8], reason: String)] = [
            (
                try await bundle(3, apps: 1, extra: "colour: red\n", in: folder),
                "policies: 1 problem at assay.bundle/a.yaml:7:1: unknown key `colour`; those of "
            ),
            (first, "policies: 1 problem at assay.bundle: its version 1 is older than version 2"),
        ]
        for (bundle, reason) in bad {
            files.upload(bundle)
            try await eventually(reason) {
                try await server.get("/readyz").body["reason"]?.string?.hasPrefix(reason) == true
            }
            #expect(try await status(of: "a1", server) == 403)
            #expect(try await server.text("/metrics").contains("assay_policy_last_reload_successful 0"))
        }
        files.upload(nil)
        let gauge = "assay_last_reload_successful{subject=\"policy_bundle\"}"
        try await eventually("the failed download") { try await server.text("/metrics").contains("\(gauge) 0") }
        files.upload(try await bundle(4, apps: 3, in: folder))
        // SIGHUP asks at once.
        kill(server.processID, SIGHUP)
        try await eventually("the new app") { try await status(of: "a2", server) == 403 }
        try await eventually("ready") { try await server.get("/readyz").body["status"] == "ok" }
        #expect(try await server.text("/metrics").contains("\(gauge) 1"))
        let before = files.requests
        try await eventually("another request") { files.requests > before }
        #expect(await server.end(SIGTERM).status == 0)

        let audit = try String(contentsOf: folder.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        #expect(audit.split(separator: "\n").count { $0.contains("\"event\":\"policies_changed\"") } == 2)
        #expect(audit.split(separator: "\n").count { $0.contains("\"event\":\"policies_refused\"") } == 2)
        let kept = try Array(Data(contentsOf: folder.appendingPathComponent("state.sqlite-policies/policies.bundle")))
        #expect(kept == (try Array(Data(contentsOf: folder.appendingPathComponent("new.bundle")))))
    }

    private func status(of app: String, _ server: AssayServer, _ token: String = "x") async throws -> Int {
        let path = "/v1/projects/example-project/apps/1:1234567890:ios:\(app):exchangeDebugToken"
        return try await server.post(to: try #require(URL(string: server.base + path)), ["debug_token": .string(token)])
            .status
    }

    @Test("The plugins of a server come from a folder of its own")
    func plugins() async throws {
        try await withTemporaryFolder { folder in
            try await BundlePolicies.makeKeys(in: folder)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("local"), withIntermediateDirectories: true)
            try Data("colour: red\n".utf8).write(to: folder.appendingPathComponent("local/plugins.yaml"))
            let result = try await AssayProcess.run(
                "serve", "--policies", "http://localhost:1/a", "--bundle-key", "policies.pub", "--bundle-plugins",
                "local",
                "--bundle-folder", "kept", "--state", "memory", "--listen", "127.0.0.1:0", folder: folder)
            #expect(result.status == 2)
            #expect(result.errors.contains("local/plugins.yaml:1:1"), "\(result.errors)")
        }
    }
}
