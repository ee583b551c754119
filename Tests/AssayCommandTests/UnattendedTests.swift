import AssayCore
import AssayServer
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#endif

@testable import AssayCommand

@Suite("A server that nobody looks at", .timeLimit(.minutes(20)))
struct UnattendedTests {
    private static func policy(_ label: String) -> String {
        """
        revision: \(label)
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                providers: {debug: {tokens: [{name: local, token: "file:../debug-token"}]}}

        """
    }

    private func eventually(
        _ what: String, _ location: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
    ) async throws {
        let start = ContinuousClock.now
        while try await !isSo() {
            try #require(ContinuousClock.now - start < .seconds(120), "\(what)", sourceLocation: location)
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func write(_ text: String, to file: URL) throws {
        try Data(text.utf8).write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    @Test(
        "Secret files that change are used, policies and keys are in the metrics, and SIGUSR1 and SIGUSR2 end nothing")
    func unattended() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appending(path: "policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let file = policies.appending(path: "a.yaml")
            try write(Self.policy("first"), to: file)
            let (old, new) = (AssayServer.debugToken, "0E2E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C11")
            // A relative path begins at the policies' folder.
            let secret = folder.appending(path: "debug-token")
            try write(old, to: secret)
            let server = try await AssayServer(in: folder, arguments: ["--audit", "audit.jsonl"])
            let id = server.process.process.processIdentifier
            func status(of token: String) async throws -> Int {
                try await server.post("exchangeDebugToken", ["debug_token": .string(token)]).status
            }
            #expect(try await status(of: old) == 200)
            #expect(try await status(of: new) == 403)

            var page = try await server.text("/metrics")
            #expect(page.contains(",label=\"first\"} 1\n"), "policy_info")
            for purpose in ["signing", "sealing"] {
                #expect(page.contains("assay_key_created_timestamp_seconds{purpose=\"\(purpose)\"} 1"))
                #expect(page.contains("assay_key_next_change_timestamp_seconds{purpose=\"\(purpose)\"} 0\n"))
            }
            // Counters of what has not happened yet.
            for name in ["assay_clock_jumps_total{", "assay_http_requests_refused_total{"] {
                #expect(page.contains(name))
            }

            try write(new, to: secret)
            try await eventually("the new secret") { try await status(of: new) == 200 }
            #expect(try await status(of: old) == 403)
            #expect(server.process.errorsSoFar.contains("secret files reloaded"))
            // One that cannot be used leaves the present one in force, and is said.
            try FileManager.default.removeItem(at: secret)
            try await eventually("degraded") {
                let reply = try await server.get("/readyz").body
                return reply["status"] == "degraded" && reply["reason"]?.string?.contains("secret files") == true
            }
            #expect(try await status(of: new) == 200)
            try write(new, to: secret)
            try await eventually("ready") { try await server.get("/readyz").body["status"] == "ok" }

            try write(Self.policy("second"), to: file)
            try await eventually("the new policies") {
                page = try await server.text("/metrics")
                return page.contains(",label=\"second\"} 1\n")
            }
            #expect(!page.contains("label=\"first\""))

            let audit = folder.appending(path: "audit.jsonl")
            try FileManager.default.moveItem(at: audit, to: folder.appending(path: "audit.old"))
            kill(id, SIGUSR2)
            kill(id, SIGUSR1)
            try await eventually("a new audit file") { FileManager.default.fileExists(atPath: audit.path) }
            #expect(server.process.errorsSoFar.contains("audit file reopened"))
            #expect(await server.end(SIGTERM).status == 0)
        }
    }

    @Test(
        "Two listeners at one address are one clear message",
        arguments: [
            (["--listen", "127.0.0.1:8080", "--operations", "127.0.0.1:8080"], "--listen and --operations"),
            (["--listen", "0.0.0.0:8080", "--operations", "127.0.0.1:8080"], "--listen and --operations"),
            (["--listen", "unix:/tmp/a", "--ext-authz-listen", "unix:/tmp/a"], "--listen and --ext-authz-listen"),
            (
                ["--operations", "127.0.0.1:9", "--ext-authz-listen", "127.0.0.1:9"],
                "--operations and --ext-authz-listen"
            ),
        ])
    func sameAddress(_ arguments: [String], _ options: String) async throws {
        try await withTemporaryFolder { folder in
            let process = try AssayProcess(["serve", "--state", "memory"] + arguments, folder: folder)
            let result = await process.result()
            #expect(result.status != 0)
            #expect(result.errors.contains("\(options) have the same address"), "\(result.errors)")
        }
    }

    @Test("Different addresses, and ports that the system chooses, are no conflict")
    func otherAddresses() throws {
        func collide(_ one: String, _ other: String) throws -> Bool {
            try SocketAddress(one).collides(with: try SocketAddress(other))
        }
        #expect(try !collide("127.0.0.1:0", "127.0.0.1:0"))
        #expect(try !collide("127.0.0.1:1", "127.0.0.2:1"))
        #expect(try !collide("127.0.0.1:1", "127.0.0.1:2"))
        #expect(try !collide("unix:/a", "unix:/b"))
        #expect(try !collide("systemd:a", "systemd:b"))
        #expect(try collide("systemd:a", "systemd:a"))
        #expect(try collide("[::]:1", "[::1]:1"))
    }

    private static let canMount = getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")

    @Test(
        "A copy for which the disk has no room is said to be that, and leaves nothing behind",
        .enabled(if: canMount, "only root can mount a small disk"), arguments: ["4k", "16k"])
    func fullDisk(_ size: String) async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: try SimulatedAppleCA(at: HostClock.system.now))
            _ = try await AssayServer(in: folder).end(SIGTERM)
            try FileManager.default.createDirectory(
                at: folder.appending(path: "full"), withIntermediateDirectories: true)
            // The disk is in a namespace of its own, which ends with the command.
            let script =
                "mount -t tmpfs -o size=\(size) none full || exit 99; \"$@\"; status=$?; ls -A full; exit $status"
            let process = try AssayProcess(
                ["state", "backup", "--state", "sqlite:state.sqlite", "--with-keys", "full/copy"], folder: folder,
                launcher: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, "sh"])
            let result = await process.result()
            guard result.status != 99 else { return }
            #expect(result.status == 2, "\(result.errors)")
            #expect(
                result.errors.contains("no space left for the copy") || result.errors.contains("the disk is full"),
                "\(result.errors)")
            #expect(result.errors.contains("full/copy"), "\(result.errors)")
            #expect(result.output.isEmpty, "\(result.output)")
        }
    }
}
