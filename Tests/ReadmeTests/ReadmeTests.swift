import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTestSupport
import Foundation
import Logging
import Testing

@Suite("The README keeps its word")
struct ReadmeTests {
    private static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    private static let readme = folder.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("README.md")

    @Test("The embedded engine issues a token, and refuses what the policy does not list")
    func embedding() async throws {
        let token = try await tokenForDebugSecret("a secret of some length")
        #expect(token?.split(separator: ".").count == 3)
    }

    @Test("A provider as short as the README's works")
    func provider() async throws {
        let text = """
            projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {password: {password: 'env:SECRET'}}}]}]
            """
        let engine = try Engine(
            registry: Registry([.provider(PasswordProvider.self)]),
            policies: .load([PolicyFile(name: "a.yaml", text: text)]), keys: .ephemeral(),
            host: Host(
                store: MemoryStore(clock: .system), secrets: SecretSource { _ in Array("open sesame".utf8) },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
        func reply(_ password: String) async -> Result<JSON, CallFailure> {
            await engine.handle(
                Call("exchangePassword", resource: "projects/a/apps/1:1:ios:a", body: ["password": .string(password)])
            ).result
        }
        #expect(try await reply("open sesame").get()["token"] != nil)
        guard case .failure(let failure) = await reply("open barley") else {
            Issue.record("a wrong password was accepted")
            return
        }
        #expect(failure.reason?.code == "password_wrong")
    }

    @Test("A consumer as short as the README's gives users tickets, and nobody else")
    func consumer() async throws {
        let users = try PrivateKey.generate(.ec(.p256))
        let document = JWKSet([JWK(signing: users.publicKey, keyID: "u1")]).json.encoded
        let text = """
            projects:
              - number: 1
                id: a
                apps: [{id: '1:1:ios:a', providers: {password: {password: 'env:SECRET'}}}]
                consumers:
                  ticket:
                    desk: https://desk.example.com
                    actors: [{issuer: 'https://login.example.com', audiences: [assay], jwks: 'env:USERS'}]
            """
        let secrets = SecretSource { (reference) throws(SecretError) in
            "\(reference)" == "env:USERS" ? document : Array("open sesame".utf8)
        }
        let engine = try Engine(
            registry: Registry([.provider(PasswordProvider.self), .consumer(TicketConsumer.self)]),
            policies: .load([PolicyFile(name: "a.yaml", text: text)]), keys: .ephemeral(),
            host: Host(
                store: MemoryStore(clock: .system), secrets: secrets,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
        let issued = await engine.handle(
            Call("exchangePassword", resource: "projects/a/apps/1:1:ios:a", body: ["password": "open sesame"]))
        let token = try #require(issued.result.get()["token"]?.string)
        let now = HostClock.system.now.seconds
        let user = try JWSSigner(key: users, keyID: "u1", algorithm: .es256).sign(
            payload: JSON.object([
                JSONMember("iss", "https://login.example.com"), JSONMember("aud", "assay"), JSONMember("sub", "user-1"),
                JSONMember("iat", .integer(now)), JSONMember("exp", .integer(now + 600)),
            ]).encoded)
        func exchange(_ actor: [JSONMember]) async -> Result<JSON, CallFailure> {
            await engine.handle(
                Call(
                    "exchangeToken",
                    body: .object(
                        [
                            JSONMember("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                            JSONMember("subject_token", .string(token)),
                            JSONMember("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
                            JSONMember("audience", "https://desk.example.com"),
                        ] + actor))
            ).result
        }
        guard case .failure(let failure) = await exchange([]) else {
            Issue.record("nobody got a ticket")
            return
        }
        #expect(failure.reason?.code == "ticket_nobody")
        let reply = try await exchange([
            JSONMember("actor_token", .string(user)),
            JSONMember("actor_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ]).get()
        let ticket = try #require(reply["access_token"]?.string)
        let payload = try CompactJWS.parse(utf8: Array(ticket.utf8)[...]).payload
        #expect(try JSON.parse(payload)["sub"] == "user-1")
    }

    @Test("A backend as short as the README's verifies tokens")
    func backend() async throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let now = HostClock.system.now.seconds
        let claims: JSON = [
            "sub": "1:1234567890:ios:321abc456def7890", "aud": ["projects/1234567890"], "provider": "app_attest",
            "iss": "https://firebaseappcheck.googleapis.com/1234567890", "exp": .integer(now + 3600),
            "iat": .integer(now), "jti": "an identifier",
        ]
        let token = try JWSSigner(key: key, keyID: "k", algorithm: .es256).sign(payload: claims.encoded)
        let document = JWKSet([JWK(signing: key.publicKey, keyID: "k")]).json.encoded
        let http = ScriptedHTTP([.success(OutboundResponse(status: 200, body: document))])
        let verifier = try #require(
            makeVerifier(http: http, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
        #expect(await app(of: token, verifier) == "1:1234567890:ios:321abc456def7890")
        #expect(await app(of: nil, verifier) == nil)
        #expect(await app(of: token + "A", verifier) == nil)
    }

    @Test(
        "The README shows the very code that is compiled here",
        arguments: ["EmbeddedEngine", "PasswordProvider", "TicketConsumer", "Backend"])
    func sameCode(_ file: String) throws {
        let readme = try String(contentsOf: Self.readme, encoding: .utf8)
        let code = try String(
            contentsOf: Self.folder.appendingPathComponent("\(file).swift"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(code)```"))
    }

    @Test(
        "The README shows the very configurations that are tested with the proxies",
        arguments: [
            ("nginx.conf", "nginx"), ("Caddyfile", ""), ("haproxy.cfg", ""), ("traefik-dynamic.yaml", "yaml"),
            ("envoy-http.yaml", "yaml"), ("envoy-grpc.yaml", "yaml"),
        ])
    func sameConfiguration(_ file: String, _ language: String) throws {
        let readme = try String(contentsOf: Self.readme, encoding: .utf8)
        let proxies = Self.folder.deletingLastPathComponent().appendingPathComponent("Clients/proxies")
        let configuration = try String(contentsOf: proxies.appendingPathComponent(file), encoding: .utf8)
        #expect(readme.contains("```\(language)\n\(configuration)```"))
    }
}
