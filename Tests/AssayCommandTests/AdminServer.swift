import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server whose policy lets a bearer token do everything, over a state that outlives it.
struct AdminServer {
    static let token = "admin-token-0123456789"
    static let app = AssayServer.app

    let server: AssayServer
    private let session: URLSession

    init(in folder: URL) async throws {
        let policies = folder.appendingPathComponent("policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        let text = """
            tokens: {algorithm: ES256}
            callers:
              root: {token: 'env:ASSAY_ADMIN_TOKEN', permissions: [admin]}
            projects:
              - number: 1234567890
                id: example-project
                verification: {accept_development: true}
                services: {oauth2.googleapis.com: {editable: true}}
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest: {}
                      debug: {managed: {}, tokens: [{name: local, token: 'env:ASSAY_DEBUG_TOKEN'}]}
                oauth_clients: [{id: example-client, app: "1:1234567890:ios:321abc456def7890"}]
            """
        try Data(text.utf8).write(to: policies.appendingPathComponent("policy.yaml"))
        server = try await AssayServer(
            in: folder,
            environment: ["ASSAY_ADMIN_TOKEN": Self.token, "ASSAY_DEBUG_TOKEN": AssayServer.debugToken])
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 50
        session = URLSession(configuration: configuration)
    }

    func send(
        _ verb: String, _ path: String, _ body: JSON? = nil, token: String? = token
    ) async throws -> (status: Int, body: JSON) {
        var request = URLRequest(url: try #require(URL(string: server.base + path)))
        request.httpMethod = verb
        request.httpBody = body.map { Data($0.encoded) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization") }
        let (data, response) = try await session.data(for: request)
        return (try #require(response as? HTTPURLResponse).statusCode, try JSON.parse(data))
    }

    /// A fresh limited-use token.
    func mint() async throws -> String {
        let reply = try await send(
            "POST", "/v1/\(Self.app):mintAppCheckToken", ["limitedUseConfig": [:]])
        #expect(reply.status == 200)
        return try #require(reply.body["token"]?.string)
    }

    /// Whether a verification found that a token was used before; nil when there was no answer.
    func isConsumed(_ token: String) async -> Bool? {
        let body: JSON = ["app_check_token": .string(token)]
        let path = "/v1beta/projects/example-project:verifyAppCheckToken"
        guard let reply = try? await send("POST", path, body), reply.status == 200 else { return nil }
        return reply.body["alreadyConsumed"]?.bool ?? false
    }

    /// How many of a number of verifications at the same time found what.
    func verify(_ token: String, times count: Int) async -> [Bool?: Int] {
        await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<count { group.addTask { await isConsumed(token) } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// Kills the process; nothing of it gets to say good-bye.
    func kill() async {
        #expect(await server.end(SIGKILL).status == SIGKILL)
    }
}
