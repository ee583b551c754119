import AssayRequestProof
import AssayTesting
import Synchronization
import Testing

@testable import AssayClient

@Suite("Proofs of requests")
struct RequestProofTests {
    /// An app on a device, and a backend behind a proxy that asks the server, in one process.
    private struct Scene {
        let server: ServerInProcess
        let device: SimulatedAttestingDevice
        let clock = FakeClock()
        let appCheck: AppCheck

        init(namesKey: Bool = true) throws {
            server = try ServerInProcess(namesKey: namesKey)
            device = SimulatedAttestingDevice(server)
            var options = AppCheckOptions(transport: server, storage: MemoryStorage())
            options.clock = clock
            options.notice = { _ in }
            appCheck = try AppCheck(
                app: FakeToken.app, endpoint: "https://assay.example.com",
                provider: AppAttestProvider(device: device), options: options)
        }

        /// Lets time pass for the server and the device.
        func pass(_ seconds: Int64) {
            server.clock.advance(by: .seconds(seconds))
            clock.advance(by: .seconds(seconds))
        }

        /// Calls that the backend at `api.example.com` answers.
        func calls(_ change: @escaping @Sendable (inout ClientRequest, inout String) -> Void = { _, _ in })
            -> (ProtectedCalls, FakeService)
        {
            let backend = FakeService { [server] request in
                var request = request
                var path = String(request.url.dropFirst("https://api.example.com".count))
                change(&request, &path)
                return await server.backend(request, path: path)
            }
            return (ProtectedCalls(appCheck: appCheck, transport: backend, proving: true), backend)
        }
    }

    private static let request = ClientRequest(
        method: "POST", url: "https://api.example.com/payments?id=7", body: Array(#"{"sum":1}"#.utf8))

    @Test("each request is let through once, also after hours with one token, and by many at once")
    func passes() async throws {
        let scene = try Scene()
        let (calls, backend) = scene.calls()
        _ = try await scene.appCheck.token()
        scene.pass(10)
        #expect(try await calls.send(Self.request).status == 204)
        scene.pass(3000)
        #expect(try await calls.send(Self.request).status == 204)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await calls.send(Self.request).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [Int](repeating: 204, count: 20))
        // What was sent once is worth nothing.
        let last = try #require(backend.requests.last)
        #expect(await scene.server.backend(last, path: "/payments?id=7").status == 403)
        #expect(scene.device.keysMade == 1)
    }

    @Test("a request that is changed on the way is refused")
    func changed() async throws {
        let scene = try Scene()
        _ = try await scene.appCheck.token()
        scene.pass(10)
        for change: @Sendable (inout ClientRequest, inout String) -> Void in [
            { request, _ in request.method = "PUT" }, { _, path in path = "/payments?id=8" },
            { request, _ in
                request.headers.removeAll { $0.name == "Content-Digest" }
                request.headers.append(
                    ClientHeader("Content-Digest", "sha-256=:\(String(repeating: "A", count: 43))=:"))
            }, { request, _ in request.headers.removeAll { $0.name == "Signature" } },
        ] {
            let (calls, _) = scene.calls(change)
            #expect(try await calls.send(Self.request).status == 403)
        }
    }

    @Test("a wrong clock of the device does no harm: the time is the server's")
    func clock() async throws {
        let scene = try Scene()
        let token = try await scene.appCheck.token()
        let issued = try #require(TokenClaims.namedKey(of: token.text)).issued
        scene.clock.advance(by: .seconds(100))
        let headers = try await scene.appCheck.proof(of: Self.request, with: token)
        let input = try #require(headers.first { $0.name == "Signature-Input" }).value
        #expect(input.contains(";created=\(issued + 100);"))
    }

    @Test("a device that lost its key gets a new token for the new one, once")
    func lostKey() async throws {
        let scene = try Scene()
        let (calls, _) = scene.calls()
        _ = try await scene.appCheck.token()
        scene.pass(120)
        // The next signature fails, and so does the assertion for a token: a new key is made.
        scene.device.fail([.invalidKey, .invalidKey])
        #expect(try await calls.send(Self.request).status == 204)
        #expect(scene.device.keysMade == 2)
    }

    @Test("a token without a key, and a provider without one, are errors that say what to do")
    func noKey() async throws {
        let scene = try Scene(namesKey: false)
        let (calls, backend) = scene.calls()
        let error = await clientError { _ = try await calls.send(Self.request) }
        #expect(error?.code == .notConfigured)
        #expect(error?.message.contains("key_in_tokens") == true)
        #expect(backend.requests.isEmpty)

        let debug = try ClientScene(
            FakeService { _ in .token(Self.tokenWithKey) })
        let other = await clientError {
            _ = try await ProtectedCalls(appCheck: debug.appCheck, transport: FakeService(), proving: true)
                .send(Self.request)
        }
        #expect(other?.code == .unsupportedDevice)
    }

    @Test("what is signed is what the server expects, for any URL")
    func bases() throws {
        for (url, authority, target) in [
            ("https://API.example.com/a?b=c", "api.example.com", "/a?b=c"),
            ("https://api.example.com", "api.example.com", "/"),
            ("https://api.example.com?a", "api.example.com", "/?a"),
            ("https://api.example.com:443/", "api.example.com", "/"),
            ("https://api.example.com:8443/a%20b", "api.example.com:8443", "/a%20b"),
            ("http://localhost:8080/a", "localhost:8080", "/a"), ("http://[::1]:80/", "[::1]", "/"),
        ] {
            let address = try #require(ServerAddress(url))
            let proof = RequestProof(method: "GET", address: address, body: [1], created: 17)
            #expect(proof.authority == authority)
            #expect(RequestProofVerifier.isAuthority(proof.authority))
            let request = try #require(ProvenRequest(method: "GET", target: target))
            #expect(
                proof.base
                    == request.signatureBase(
                        authority: authority, contentDigest: proof.contentDigest, created: 17))
        }
    }

    @Test("what a server wants signed for a token is never the beginning of a proof")
    func harvest() async throws {
        let scene = try Scene()
        let base = Array(
            RequestProof(
                method: "POST", address: try #require(ServerAddress("https://api.example.com/payments")), body: [],
                created: 1
            ).base.utf8)
        for split in [1, 5, 40] {
            let storage = MemoryStorage()
            let key = try await scene.device.generateKey()
            _ = try await scene.device.attestKey(key, clientDataHash: [UInt8](repeating: 0, count: 32))
            let service = FakeService { request in
                let challenge = Base64Text.encode(Array(base[split...]))
                return request.url.hasSuffix("generateAppAttestChallenge")
                    ? ClientResponse(status: 200, body: Array(#"{"challenge":"\#(challenge)"}"#.utf8))
                    : ClientResponse(status: 403)
            }
            var options = AppCheckOptions(transport: service, storage: storage)
            options.notice = { _ in }
            let appCheck = try AppCheck(
                app: FakeToken.app, endpoint: "https://assay.example.com",
                provider: AppAttestProvider(device: scene.device), options: options)
            let stored = AttestedKey(identifier: key, artifact: Array(base[..<split]))
            let name = StorageKey(
                app: FakeToken.app, server: "https://assay.example.com", name: AttestedKey.name)
            storage.save(stored.encoded, as: name)
            #expect(await clientError { _ = try await appCheck.token() } != nil)
            #expect(!service.methods.contains("exchangeAppAttestAssertion"))
            // The artifact was used, or the test would say nothing.
            #expect(service.methods.first == "generateAppAttestChallenge")
        }
    }

    @Test("other signatures of the request stay beside the proof")
    func beside() throws {
        let address = try #require(ServerAddress("https://api.example.com/"))
        let proof = RequestProof(method: "GET", address: address, body: [], created: 1)
        let headers = proof.headers(
            [1, 2], beside: [ClientHeader("signature", "sig1=:AAAA:"), ClientHeader("Accept", "*/*")])
        #expect(headers.map(\.name) == ["Content-Digest", "Signature-Input", "Signature"])
        #expect(headers[2].value == "sig1=:AAAA:, appcheck=:AQI=:")
    }

    private static let tokenWithKey: String = {
        let claims = """
            {"sub":"1:1234567890:ios:321abc456def7890","aud":["projects/1234567890"],"iat":1,"exp":3601,\
            "cnf":{"jwk":{"x":"\(String(repeating: "A", count: 43))","y":"\(String(repeating: "A", count: 43))"}}}
            """
        return "e30.\(Base64Text.encode(Array(claims.utf8)).replacing("=", with: "")).AA"
    }()
}
