import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("assay caller-token")
struct CallerTokenTests {
    @Test("What it prints goes into a policy, and the caller is known by the token and by nothing else")
    func use() async throws {
        try await withTemporaryFolder { folder in
            let made = try await AssayProcess.run("caller-token", "--name", "ops@example")
            #expect(made.status == 0)
            let token = try #require(made.lines.first?.split(separator: " ").last.map(String.init))
            #expect(token.hasPrefix("assay_ct_"))
            #expect(!made.lines.dropFirst().joined().contains(token))
            let policy = """
                callers:
                \(made.lines.map { "  " + $0 }.joined(separator: "\n").replacing(token, with: "TOKEN"))
                projects: [{number: 1234567890, id: example-project}]
                """
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(policy.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let server = try await AssayServer(in: folder)
            func status(_ token: String) async throws -> Int {
                let url = try #require(URL(string: server.base + "/v1/projects/example-project/services"))
                var request = URLRequest(url: url)
                request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
                let (_, response) = try await URLSession.shared.data(for: request)
                return try #require(response as? HTTPURLResponse).statusCode
            }
            #expect(try await status(token) == 200)
            for wrong in ["password", String(token.dropLast()), token + "0", token.replacing("assay_ct_", with: "")] {
                #expect(try await status(wrong) == 401, "\(wrong)")
            }
            #expect(await server.end(SIGTERM).status == 0)
        }
    }

    @Test("It does not take a permission that there is not, or a name that no policy could have")
    func wrong() async throws {
        let permission = try await AssayProcess.run("caller-token", "--permission", "tokens.mitn")
        #expect(permission.status == 2)
        #expect(permission.errors.contains("known are admin,"))
        #expect(try await AssayProcess.run("caller-token", "--name", "a b").status == 2)
    }

    @Test("A policy with the hash of a word that attackers try first is refused at its line")
    func common() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            // The SHA-256 of `password`.
            let hash = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"
            try Data("callers:\n  administrator:\n    sha256: \(hash)\n    permissions: [admin]\n".utf8)
                .write(to: policies.appendingPathComponent("a.yaml"))
            let result = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(result.status == 1)
            #expect(result.errors.contains("policies/a.yaml:3:13: callers.administrator.sha256: this is the hash of"))
        }
    }

    @Test(
        "Debug tokens that have expired are warned of, by the check and by the server, once for an app and its clients")
    func expiredDebugToken() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let hash = String(repeating: "ab", count: 32), other = String(repeating: "cd", count: 32)
            let policy = """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        providers:
                          debug:
                            tokens:
                              - {name: old, sha256: \(hash), expires: "2020-01-01T00:00:00Z"}
                              - {name: new, sha256: \(other), expires: "2200-01-01T00:00:00Z"}
                    oauth_clients:
                      - {id: example, app: "1:1234567890:ios:321abc456def7890"}
                """
            try Data(policy.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let result = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(result.status == 0)
            #expect(result.output.contains("good, with 1 warning"))
            #expect(result.errors.hasPrefix("policies/a.yaml:9:"), "\(result.errors)")
            #expect(result.errors.contains("tokens[0].expires: the debug token `old` expired at 2020-01-01"))
            let server = try await AssayServer(in: folder)
            #expect(server.process.errorsSoFar.contains("the debug token `old` expired"))
            #expect(await server.end(SIGTERM).status == 0)
        }
    }
}
