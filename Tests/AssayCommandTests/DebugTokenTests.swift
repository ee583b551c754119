import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@Suite("Debug tokens over HTTP")
struct DebugTokenTests {
    private static let path = "/v1/\(AdminServer.app)/debugTokens"
    private static let text = "ABCDEF01-2345-4678-9ABC-000000000001"

    private func exchange(_ server: AdminServer, _ text: String) async throws -> (status: Int, body: JSON) {
        try await server.send(
            "POST", "/v1/\(AdminServer.app):exchangeDebugToken", ["debugToken": .string(text)], token: nil)
    }

    @Test("They outlive a kill -9, in either version of the API; of 50 updates by one etag, one goes through")
    func lifetime() async throws {
        try await withTemporaryFolder { folder in
            var server = try await AdminServer(in: folder)
            let made = try await server.send(
                "POST", Self.path, ["displayName": "a phone", "token": .string(Self.text)])
            #expect(made.status == 200, "\(made.body)")
            let name = try #require(made.body["name"]?.string)
            await server.kill()

            server = try await AdminServer(in: folder)
            for version in ["v1", "v1beta"] {
                #expect(try await server.send("GET", "/\(version)/\(name)").body == made.body)
            }
            #expect(try await exchange(server, Self.text.lowercased()).status == 200)
            let change: JSON = ["displayName": "b", "etag": made.body["etag"] ?? .null]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { [server] group in
                for _ in 0..<50 {
                    group.addTask {
                        try await server.send("PATCH", "/v1/\(name)?updateMask=displayName", change).status
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 1, 409: 49])

            let etag = try #require(try await server.send("GET", "/v1/\(name)").body["etag"]?.string)
            let query = try #require(etag.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            #expect(try await server.send("DELETE", "/v1/\(name)?etag=%22x%22").status == 409)
            #expect(try await server.send("DELETE", "/v1/\(name)?etag=\(query)").status == 200)
            #expect(try await exchange(server, Self.text).status == 403)
            await server.kill()
        }
    }

    @Test("Over HTTP they come in pages, and the policy's cannot be changed: the answer names file and line")
    func list() async throws {
        try await withTemporaryFolder { folder in
            let server = try await AdminServer(in: folder)
            for number in 1...3 {
                let text = "ABCDEF01-2345-4678-9ABC-00000000000\(number)"
                let made = try await server.send(
                    "POST", Self.path, ["display_name": .string("n\(number)"), "token": .string(text)])
                #expect(made.status == 200)
            }
            let first = try await server.send("GET", "\(Self.path)?pageSize=3").body
            #expect(first["debugTokens"]?.array?.count == 3)
            let token = try #require(first["nextPageToken"]?.string)
            let second = try await server.send("GET", "\(Self.path)?page_size=3&pageToken=\(token)").body
            #expect(second["debugTokens"]?.array?.count == 1)
            #expect(second["nextPageToken"] == nil)
            let all = (first["debugTokens"]?.array ?? []) + (second["debugTokens"]?.array ?? [])
            let listed = try #require(all.first { $0["displayName"] == "local" }?["name"]?.string)
            let reply = try await server.send("DELETE", "/v1/\(listed)")
            #expect(reply.status == 400)
            #expect(reply.body["error"]?["status"] == "FAILED_PRECONDITION")
            #expect(
                reply.body["error"]?["message"]?.string?.contains("policies/policy.yaml:14:") == true, "\(reply.body)")
            for (token, status) in [(nil, 401), ("somebody-else-0123456789", 401)] as [(String?, Int)] {
                let reply = try await server.send("GET", "/v1/\(listed)", token: token)
                #expect(reply.status == status)
                #expect(reply.body["error"]?["message"]?.string?.contains("local") == false)
            }
            await server.kill()
        }
    }
}
