import AssayCore
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("--ca of commands that call a server over HTTPS", .timeLimit(.minutes(20)))
struct AuthorityOptionTests {
    private func run(_ arguments: [String], in folder: URL) async throws -> AssayProcess.Result {
        try await AssayProcess(
            arguments,
            environment: [
                "ASSAY_TOKEN": "a-token-0123456789", "AppCheckDebugToken": AssayServer.debugToken, "HOME": folder.path,
            ], folder: folder
        ).result()
    }

    @Test("A private authority is trusted for the command; without it, the message says what to do")
    func trusted() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let identity = try TestIdentity()
            let files = try IdentityFiles(identity)
            let server = try await AssayServer(
                in: folder, arguments: ["--tls-certificate", files.certificate, "--tls-key", files.key])
            let port = try server.port
            let commands: [(arguments: [String], words: String)] = [
                // The server answers; what it says is not the point here.
                (["deny", "list", "--project", "example-project", "--endpoint"], "status 40"),
                (["token", "get", "--app", AssayServer.app, "--provider", "debug", "--endpoint"], ""),
                (["plugins", "list", "--operations"], ""),
            ]
            for (arguments, words) in commands {
                let trusting = try await run(
                    arguments + ["https://localhost:\(port)", "--ca", files.certificate], in: folder)
                #expect(!trusting.errors.contains("certificate"), "\(trusting.errors)")
                #expect(words.isEmpty || trusting.errors.contains(words), "\(trusting.errors)")
                let stranger = try await run(arguments + ["https://localhost:\(port)"], in: folder)
                #expect(stranger.status == 2)
                #expect(
                    stranger.errors.contains(
                        "localhost:\(port): its certificate is of an authority that is not trusted: give the authority's "
                            + "certificate with --ca FILE"), "\(stranger.errors)")
                // The certificate has no name for the address.
                let other = try await run(
                    arguments + ["https://127.0.0.1:\(port)", "--ca", files.certificate], in: folder)
                #expect(other.errors.contains("its certificate is not for the name '127.0.0.1'"), "\(other.errors)")
                let plain = try await run(
                    arguments + ["http://127.0.0.1:\(port)", "--ca", "absent.pem"], in: folder)
                #expect(plain.status == 2 && plain.errors.contains("cannot open absent.pem"), "\(plain.errors)")
                let key = try await run(arguments + ["https://localhost:\(port)", "--ca", files.key], in: folder)
                #expect(key.status == 2)
                #expect(
                    key.errors.contains(
                        "it is not one or more certificates in PEM; --ca FILE takes the authority's certificate"),
                    "\(key.errors)")
                #expect(!key.errors.contains("BEGIN PRIVATE"))
            }
            #expect(await server.end(SIGTERM).status == 0)
        }
    }
}
