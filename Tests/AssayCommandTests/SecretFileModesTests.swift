import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

private let canChangeUser = geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

@Suite("Modes of secret files", .timeLimit(.minutes(20)))
struct SecretFileModesTests {
    private static let user = AssayProcess.Identity(user: 54_321, groups: [54_321, 54_322])

    private func withServerFolder(_ body: (URL, IdentityFiles) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(
                in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            for path in [folder.path, folder.appendingPathComponent("policies").path] {
                #expect(chmod(path, 0o755) == 0)
            }
            #expect(chown(folder.path, Self.user.user, Self.user.user) == 0)
            let files = try IdentityFiles(TestIdentity())
            #expect(chmod(files.folder.path, 0o755) == 0)
            try await body(folder, files)
        }
    }

    private func arguments(_ files: IdentityFiles) -> [String] {
        ["--watch", "never", "--tls-certificate", files.certificate, "--tls-key", files.key]
    }

    @Test(
        "A server takes a TLS key of root that its group may read, as Kubernetes, Debian and systemd make them",
        .enabled(if: canChangeUser, "only root runs programs as other users"), arguments: [0o440, 0o640])
    func groupMayRead(_ mode: mode_t) async throws {
        try await withServerFolder { folder, files in
            #expect(chown(files.key, 0, 54_322) == 0 && chmod(files.key, mode) == 0)
            let server = try await AssayServer(in: folder, arguments: arguments(files), identity: Self.user)
            #expect(await server.end(SIGTERM).status == 0)
        }
    }

    @Test(
        "A server does not start with a TLS key that others may use, and says the mode and what to do",
        .enabled(if: canChangeUser, "only root runs programs as other users"),
        arguments: [
            (0, 54_322, 0o444, "chmod 640"), (54_321, 54_321, 0o604, "chmod 600"),
            (54_321, 54_323, 0o640, "chmod 600"), (54_324, 54_322, 0o440, "chown 54321"),
        ] as [(UInt32, UInt32, mode_t, String)])
    func refused(_ owner: UInt32, _ group: UInt32, _ mode: mode_t, _ command: String) async throws {
        try await withServerFolder { folder, files in
            #expect(chown(files.key, owner, group) == 0 && chmod(files.key, mode) == 0)
            let process = try AssayProcess(
                ["serve", "--listen", "127.0.0.1:0", "--state", "memory"] + arguments(files), folder: folder,
                identity: Self.user)
            let result = await process.result()
            #expect(result.status == 2, "\(result.errors)")
            #expect(result.errors.contains("\(files.key) has mode 0\(String(mode, radix: 8))"), "\(result.errors)")
            #expect(result.errors.contains(command), "\(result.errors)")
        }
    }

    @Test("Every secret that a policy refers to is judged, at the line of its reference")
    func references() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let secret = folder.appendingPathComponent("secret").path
            try Data("not much of a key, but secret".utf8).write(to: URL(fileURLWithPath: secret))
            let policy = """
                callers:
                  administrator: {token: "file:\(secret)", permissions: [admin]}
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          device_check: {key_id: ABC123DEFG, private_key: "file:\(secret)"}
                          app_attest: {risk_metric: {key_id: ABC123DEFG, private_key: "file:\(secret)"}}
                          debug: {tokens: [{name: a, token: "file:\(secret)"}]}
                          custom: {service_accounts: [{key_file: "file:\(secret)"}]}
                    consumers:
                      fleet_engine:
                        account: "file:\(secret)"
                        roles: {driver: {vehicle: {claim: v}}}
                      oauth_client:
                        authorization_servers: [https://login.example.com]
                        clients: {"1:1234567890:ios:321abc456def7890": example}
                        attester: {key: {private_key: "file:\(secret)", key_id: k}}
                """
            try Data(policy.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            #expect(chmod(secret, 0o644) == 0)
            let open = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(open.status == 1)
            for line in [2, 10, 11, 12, 13, 16, 21] {
                let problem = open.errors.split(separator: "\n").first { $0.hasPrefix("policies/a.yaml:\(line):") }
                #expect(problem?.contains("\(secret) has mode 0644") == true, "line \(line): \(open.errors)")
                #expect(problem?.contains("run `chmod 600 \(secret)`") == true)
            }
            #expect(chmod(secret, 0o600) == 0)
            let closed = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(!closed.errors.contains("has mode"), "\(closed.errors)")
        }
    }
}
