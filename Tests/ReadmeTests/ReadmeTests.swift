import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTestSupport
import AssayTesting
import AssayVerifier
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Synchronization
import Testing

@Suite("The programs of the documentation work")
struct ReadmeTests {
    /// All tests of a run begin at once, so that a decision may take longer than a client would wait.
    private static let patient = Engine.Options(timeLimit: .seconds(600))

    @Test("The smallest engine issues a token, and refuses what the policy does not list")
    func smallestEngine() async throws {
        let secret = "a secret of some length"
        let policy = PolicyFile(
            name: "policy.yaml",
            text: """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        providers:
                          debug: {tokens: [{name: example, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}
                """)
        let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
        let reply = try await exchangeDebugToken(secret, app: app, under: policy)
        #expect(reply["token"]?.string?.split(separator: ".").count == 3)
        await #expect(throws: CallFailure.self) {
            try await exchangeDebugToken("another secret of some length", app: app, under: policy)
        }
    }

    @Test("The embedded engine issues a token, and refuses what the policy does not list")
    func embedding() async throws {
        let token = try await tokenForDebugSecret("a secret of some length")
        #expect(token?.split(separator: ".").count == 3)
    }

    @Test("The article's calls deny a debug token at once, and accept it again")
    func denyAtOnce() async throws {
        let (secret, admin) = ("a secret of some length", "admin-token-0123456789")
        let policy = """
            callers: {root: {sha256: \(Hex.encode(SHA256.hash(Array(admin.utf8)))), permissions: [denyList.manage]}}
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    providers: {debug: {tokens: [{name: fair, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}}
            """
        let engine = try Engine(
            registry: Registry([.provider(DebugProvider.self)], administration: .api),
            policies: .load([PolicyFile(name: "a.yaml", text: policy)]), keys: .ephemeral(),
            host: PluginHost(
                store: MemoryStore(clock: .system),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), options: Self.patient)
        func isAccepted() async -> Bool {
            let call = Call(
                "exchangeDebugToken", resource: "projects/a/apps/1:1:ios:a", body: ["debugToken": .string(secret)])
            return (try? await engine.handle(call).result.get()) != nil
        }
        #expect(await isAccepted())
        let caller = try #require(BearerToken(admin))
        let id = try #require(try await denyDebugToken("fair", in: "projects/a", of: engine, as: caller))
        #expect(await !isAccepted())
        try await removeDenyEntry(id, in: "projects/a", of: engine, as: caller)
        #expect(await isAccepted())
        await #expect(throws: CallFailure.self) {
            try await removeDenyEntry(id, in: "projects/a", of: engine, as: caller)
        }
    }

    @Test("A provider as short as the article's works")
    func provider() async throws {
        let text = """
            projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {password: {password: 'env:SECRET'}}}]}]
            """
        let engine = try Engine(
            registry: Registry([.provider(PasswordProvider.self)]),
            policies: .load([PolicyFile(name: "a.yaml", text: text)]), keys: .ephemeral(),
            host: PluginHost(
                store: MemoryStore(clock: .system), secrets: SecretSource { _ in Array("open sesame".utf8) },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })),
            options: Self.patient)
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

    @Test("The article's provider asks the service once for each token, and decides nothing without a clear answer")
    func pageTokens() async throws {
        let section =
            "{secret: \"env:SECRET\", url: \"https://pages.example.com/check\", hostnames: [shop.example.com]}"
        let answers = [
            "good%2F1": Self.page(), "other": Self.page("shop.example.net"), "old": Self.page(age: 301),
            "early": Self.page(age: -61), "bad": #"{"success":false,"error-codes":["invalid-input-response"]}"#,
            "wrong-secret": #"{"success":false,"error-codes":["invalid-input-secret"]}"#, "odd": "<html>",
            "partial": #"{"success":true}"#,
        ]
        let keys = Mutex<[String]>([])
        let service = ScriptedHTTP { request in
            #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
            let form = String(decoding: request.body, as: UTF8.self).split(separator: "&").map(String.init)
            guard form.first == "secret=open-sesame%21", form.count == 3 else { return OutboundResponse(status: 401) }
            keys.withLock { $0.append(form[2]) }
            let token = form[1].dropFirst("response=".count)
            return OutboundResponse(status: 200, body: Array((answers[String(token)] ?? "<html>").utf8))
        }
        let engine = try TestEngine(
            [.provider(PageCheckProvider.self)], policy: TestEngine.policy(providers: "page_check: \(section)"),
            secrets: SecretSource { _ in Array("open-sesame!".utf8) }, http: service)
        func failure(_ token: String) async -> CallFailure? {
            let reply = await engine.call("exchangePageToken", TestEngine.app, ["token": .string(token)])
            guard case .failure(let failure) = reply.result else { return nil }
            return failure
        }
        #expect(await failure("good/1") == nil)
        #expect(await failure("good/1")?.reason == PageCheckProvider.used)
        #expect(await failure("other")?.reason == PageCheckProvider.otherHost)
        #expect(await failure("old")?.reason == PageCheckProvider.tooOld)
        #expect(await failure("early")?.reason == PageCheckProvider.tooOld)
        #expect(await failure("bad")?.reason == PageCheckProvider.refused)
        let asked = service.requests.count
        #expect(await failure("bad")?.reason == PageCheckProvider.refused)
        #expect(service.requests.count == asked)
        let undecided = [
            "odd": "upstream_malformed", "partial": "upstream_malformed", "wrong-secret": "upstream_unauthorized",
        ]
        for (token, detail) in undecided {
            let failure = await failure(token)
            #expect(failure?.status == .unavailable && failure?.reason == nil, "\(token)")
            #expect(failure?.detail == detail, "\(token)")
        }
        #expect(Set(keys.withLock { $0 }).count == asked + 3)
    }

    /// An answer about a page's token.
    private static func page(_ host: String = "shop.example.com", age: Int64 = 10) -> String {
        let solved = Instant(seconds: ManualClock().now.seconds - age)
        return #"{"success":true,"hostname":"\#(host)","challenge_ts":"\#(solved)"}"#
    }

    @Test("The article's vouchers are good once, and a counter that did not rise uses up none")
    func vouchers() async throws {
        let providers = "{voucher: {key: \"env:KEY\"}}"
        let text = "projects: [{number: 1, id: a, apps: [{id: \"1:1:ios:a\", providers: \(providers)}]}]"
        let key = Array("0123456789abcdef0123456789abcdef".utf8)
        let engine = try Engine(
            registry: Registry([.provider(VoucherProvider.self)]),
            policies: .load([PolicyFile(name: "a.yaml", text: text)]), keys: .ephemeral(),
            host: PluginHost(
                store: MemoryStore(clock: .system), secrets: SecretSource { _ in key },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })),
            options: Self.patient)
        let app = "projects/a/apps/1:1:ios:a"
        func reason(_ voucher: String, _ counter: UInt64) async throws -> String? {
            let issued = await engine.handle(Call("generateVoucherChallenge", resource: app, body: [:]))
            let text = try #require(issued.result.get()["challenge"]?.string)
            let challenge = try #require(Data(base64Encoded: text))
            let code = HMACSHA256(key: key).authenticate(
                (Array(challenge) + counter.bigEndianBytes + Array(voucher.utf8))[...])
            let body: JSON = [
                "voucher": .string(voucher), "counter": .string("\(counter)"), "challenge": .string(text),
                "code": .string(Data(code).base64EncodedString()),
            ]
            let reply = await engine.handle(Call("exchangeVoucher", resource: app, body: body))
            guard case .failure(let failure) = reply.result else { return nil }
            return failure.reason?.code ?? "\(failure)"
        }
        #expect(try await reason("a", 1) == nil)
        #expect(try await reason("b", 1) == "voucher_counter_used")
        #expect(try await reason("b", 2) == nil)
        #expect(try await reason("a", 3) == "voucher_used")
    }

    @Test("A consumer as short as the article's gives users tickets, and nobody else")
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
            host: PluginHost(
                store: MemoryStore(clock: .system), secrets: secrets,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })),
            options: Self.patient)
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
        func open(urgent: Bool) async -> Result<JSON, CallFailure> {
            await engine.handle(Call("openTicket", body: ["urgent": .bool(urgent)], token: .one(token))).result
        }
        let calm = await open(urgent: false)
        #expect(try calm.get()["ticket"] != nil)
        let urgent = await open(urgent: true)
        #expect(throws: CallFailure.self) { try urgent.get() }
    }

    @Test("A backend as short as the article's verifies tokens")
    func backend() async throws {
        let (verifier, token) = try Self.issuer()
        #expect(await app(of: token, verifier) == "1:1234567890:ios:321abc456def7890")
        #expect(await app(of: nil, verifier) == nil)
        #expect(await app(of: token + "A", verifier) == nil)
    }

    @Test("A backend as short as the article's takes nothing without a proof")
    func proofDemand() async throws {
        let (verifier, token) = try Self.issuer()
        let proofs = try #require(demand(verifier))
        let isGenuine = try await isGenuine(
            proofs, target: "/", header: { $0.isExactly("x-firebase-appcheck") ? token : nil }, content: [])
        #expect(!isGenuine)
    }

    @Test("A Hummingbird backend as short as the article's serves requests with a token, and no others")
    func hummingbird() async throws {
        let (verifier, token) = try Self.issuer()
        var headers = HTTPFields()
        headers.append(HTTPField(name: try #require(HTTPField.Name("X-Firebase-AppCheck")), value: token))
        try await Application(router: ordersRouter(verifier)).test(.router) { [headers] client in
            let refused = try await client.execute(uri: "/orders", method: .get)
            #expect(refused.status == .unauthorized)
            let served = try await client.execute(uri: "/orders", method: .get, headers: headers)
            #expect(served.status == .ok)
            #expect(String(buffer: served.body) == "orders of 1:1234567890:ios:321abc456def7890")
        }
    }

    @Test("A server of one's own answers as the article says: App Check's requests by the engine, others by itself")
    func ownServer() async throws {
        let secret = "00000000-0000-4000-8000-000000000000"
        let policy = """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    providers: {debug: {tokens: [{name: own, sha256: \(Hex.encode(DebugToken.hash(of: secret)))}]}}
            """
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let engine = try Engine(
            registry: Registry([.provider(DebugProvider.self)]),
            policies: .load([PolicyFile(name: "a.yaml", text: policy)]), keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: logger), options: Self.patient)
        try await Application(router: ownRouter(engine, logger)).test(.live) { client in
            #expect(String(buffer: try await client.execute(uri: "/hello", method: .get).body) == "hello")
            let path = "/v1/projects/a/apps/1:1:ios:a:exchangeDebugToken"
            let body = ByteBuffer(string: #"{"debugToken":"\#(secret)"}"#)
            let issued = try await client.execute(
                uri: path, method: .post, headers: [.contentType: "application/json"], body: body)
            #expect(issued.status == .ok)
            #expect(try JSON.parse(Array(buffer: issued.body))["token"]?.string?.isEmpty == false)
            #expect(try await client.execute(uri: "/v1/nothing", method: .get).status == .notFound)
        }
    }

    /// The verifier of the article, and a token of the issuer that it asks for keys.
    private static func issuer() throws -> (AppCheckVerifier, token: String) {
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
        return (verifier, token)
    }
}
