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
        arguments: ["EmbeddedEngine", "PasswordProvider", "Backend"])
    func sameCode(_ file: String) throws {
        let readme = try String(contentsOf: Self.readme, encoding: .utf8)
        let code = try String(
            contentsOf: Self.folder.appendingPathComponent("\(file).swift"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(code)```"))
    }

    @Test(
        "The README shows the very configurations that are tested with the proxies",
        arguments: [("nginx.conf", "nginx"), ("Caddyfile", ""), ("haproxy.cfg", "")])
    func sameConfiguration(_ file: String, _ language: String) throws {
        let readme = try String(contentsOf: Self.readme, encoding: .utf8)
        let proxies = Self.folder.deletingLastPathComponent().appendingPathComponent("Clients/proxies")
        let configuration = try String(contentsOf: proxies.appendingPathComponent(file), encoding: .utf8)
        #expect(readme.contains("```\(language)\n\(configuration)```"))
    }
}
