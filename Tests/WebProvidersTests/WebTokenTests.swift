import AssayCore
import AssayEngine
import AssayHTTPClient
import AssayKit
import AssayRecaptchaV3
import AssayTesting
import AssayTestingHTTP
import AssayWeb
import Testing

@Suite("Tokens of pages in an engine")
struct WebTokenTests {
    @Test(
        "Each spelling of the request's fields gets a token, for one use where it says so",
        arguments: PageService.allCases)
    func spellings(_ service: PageService) async throws {
        let scene = try WebScene(service)
        let snake = service.field.replacingUpperCase
        for (name, limited) in [(service.field, "limited_use"), (snake, "limitedUse"), (snake, nil)]
            as [(String, String?)]
        {
            var body = [JSONMember(name, .string(scene.token()))]
            if let limited { body.append(JSONMember(limited, true)) }
            let reply = await scene.engine.call(service.method, scene.app, .object(body))
            let answer = try reply.result.get()
            #expect(answer["token"]?.string?.isEmpty == false)
            #expect(answer["ttl"]?.string == (limited == nil ? "3600s" : "300s"))
        }
    }

    @Test(
        "A token is accepted once, also where the service accepts it again", arguments: PageService.sites,
        [false, true])
    func once(_ service: PageService, _ isForgetful: Bool) async throws {
        let scene = try WebScene(service, isForgetful: isForgetful)
        let token = scene.token()
        #expect(await scene.send(token).isAccepted)
        let again = await scene.send(token)
        #expect(again.failure?.reason == service.reasons[.used])
        scene.advance(by: .seconds(200))
        #expect(await scene.send(token).failure?.status == .permissionDenied)
    }

    @Test("Of concurrent requests with one token, one is accepted", arguments: PageService.sites)
    func concurrent(_ service: PageService) async throws {
        let scene = try WebScene(service, isForgetful: true)
        let token = scene.token()
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { await scene.send(token).isAccepted } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 1)
    }

    @Test("An assessment is made once")
    func assessedOnce() async throws {
        let scene = try WebScene(.enterprise)
        let token = scene.token()
        #expect(await scene.send(token).isAccepted)
        #expect(await scene.send(token).failure?.reason == PageService.enterprise.reasons[.used])
    }

    @Test("Each host of an origin passes, and no other one", arguments: PageService.allCases)
    func hosts(_ service: PageService) async throws {
        let scene = try WebScene(service)
        for host in ["example.com", "shop.example.com"] {
            #expect(await scene.exchange { $0.hostname = host }.isAccepted)
        }
        for host in ["example.org", "www.example.com", "EXAMPLE.com", "example.com.", "example.com:443", nil] {
            let reply = await scene.exchange { $0.hostname = host }
            #expect(reply.failure?.reason == service.reasons[.host], "\(host ?? "none")")
            let detail = scene.detail(reply)
            #expect(
                detail.contains(host ?? "absent") && detail.contains("'example.com' or 'shop.example.com'"), "\(detail)"
            )
        }
    }

    @Test(
        "The action must be one of the policy's, and is App Check's by default",
        arguments: [PageService.turnstile, .recaptchaV3, .enterprise])
    func actions(_ service: PageService) async throws {
        let scene = try WebScene(service)
        for action in ["login", "", "FIRE_APP_CHECK"] {
            let reply = await scene.exchange { $0.action = action }
            #expect(reply.failure?.reason == service.reasons[.action], "\(action)")
            #expect(scene.detail(reply).contains("expected 'fire_app_check'"), "\(scene.detail(reply))")
        }
        let others = try WebScene(service, "actions: [login, \"\"]")
        for action in ["login", ""] { #expect(await others.exchange { $0.action = action }.isAccepted, "\(action)") }
        let reply = await others.exchange()
        #expect(reply.failure?.reason == service.reasons[.action])
        #expect(others.detail(reply) == "'fire_app_check', expected 'login' or ''")
    }

    @Test("A token that is too old, and one of the future, are refused", arguments: PageService.allCases)
    func ages(_ service: PageService) async throws {
        let scene = try WebScene(service, "max_age: 1m")
        #expect(await scene.exchange { $0.made = $0.made - .seconds(60) }.isAccepted)
        #expect(await scene.exchange { $0.made = $0.made + .seconds(60) }.isAccepted)
        let old = await scene.exchange { $0.made = $0.made - .seconds(61) }
        #expect(old.failure?.reason == service.reasons[.tooOld])
        #expect(scene.detail(old).contains("at most 60 s"))
        let early = await scene.exchange { $0.made = $0.made + .seconds(61) }
        #expect(early.failure?.reason == service.reasons[.inFuture])
    }

    /// The score as the simulated page has it, where 1 is a person, and whether it passes by default.
    static let scores: [(Double, Bool)] = [(0, false), (0.49, false), (0.5, true), (0.51, true), (1, true)]

    @Test(
        "The limit of a score passes, and is 0.5 by default; hCaptcha's is the other way round",
        arguments: [PageService.hcaptcha, .recaptchaV3, .enterprise], scores)
    func standardScore(_ service: PageService, _ score: (Double, Bool)) async throws {
        let scene = try WebScene(service)
        let reply = await scene.exchange { $0.score = score.0 }
        #expect(reply.isAccepted == score.1, "\(reply)")
        let stated = service == .hcaptcha ? 100 - Int64(score.0 * 100) : Int64((score.0 * 100).rounded())
        #expect(scene.facts(reply).contains(Fact(WebTokenFacts.score, .integer(stated))))
        guard !score.1 else { return }
        #expect(reply.failure?.reason == service.reasons[.score])
        let words = service == .hcaptcha ? "expected at most 0.5" : "expected at least 0.5"
        #expect(scene.detail(reply).hasSuffix(words), "\(scene.detail(reply))")
    }

    @Test("A policy sets the limit of the score", arguments: [PageService.hcaptcha, .recaptchaV3, .enterprise])
    func ownScore(_ service: PageService) async throws {
        let strict = try WebScene(service, service == .hcaptcha ? "max_score: 0.25" : "min_score: 0.75")
        #expect(await strict.exchange { $0.score = 0.75 }.isAccepted)
        #expect(await strict.exchange { $0.score = 0.74 }.failure?.reason == service.reasons[.score])
        let lax = try WebScene(service, service == .hcaptcha ? "max_score: 1" : "min_score: 0")
        #expect(await lax.exchange { $0.score = 0 }.isAccepted)
    }

    @Test("hCaptcha without scores passes, unless the policy has a limit: then nothing is decided")
    func noScore() async throws {
        #expect(try await WebScene(.hcaptcha).exchange { $0.score = nil }.isAccepted)
        let scene = try WebScene(.hcaptcha, "max_score: 0.5")
        let reply = await scene.exchange { $0.score = nil }
        #expect(reply.failure?.status == .unavailable)
        #expect(scene.detail(reply).contains("no score"))
    }

    @Test("What a service says is on record", arguments: PageService.allCases)
    func facts(_ service: PageService) async throws {
        let scene = try WebScene(service)
        let reply = await scene.exchange { page in
            page.made = page.made - .seconds(7)
            page.risks = ["A", "B"]
        }
        #expect(reply.isAccepted)
        let facts = scene.facts(reply)
        #expect(facts.contains(Fact(WebTokenFacts.hostname, .text("example.com"))))
        #expect(facts.contains(Fact(WebTokenFacts.age, .duration(.seconds(7)))))
        #expect(facts.contains(Fact(WebTokenFacts.action, .text("fire_app_check"))) == (service != .hcaptcha))
        let hasRisks = service == .hcaptcha || service == .enterprise
        #expect(facts.contains(Fact(WebTokenFacts.risks, .text("A B"))) == hasRisks)
    }

    @Test("The service learns the client's address only if the policy says so", arguments: PageService.allCases)
    func address(_ service: PageService) async throws {
        for (section, isSent) in [("", false), ("send_address: true", true)] {
            let scene = try WebScene(service, section)
            #expect(await scene.exchange().isAccepted)
            let body = String(decoding: scene.requests.last?.body ?? [], as: UTF8.self)
            #expect(body.contains("192.0.2.1") == isSent, "\(body)")
        }
    }

    @Test("Services are asked over sockets, as the policy says", arguments: PageService.allCases)
    func sockets(_ service: PageService) async throws {
        let scene = try WebScene(service)
        let client = try HTTPClientService(HTTPClientOptions())
        let secret = scene.site?.secret ?? scene.assessments.apiKey
        let token = scene.token()
        let reply = try await LocalServer { scene.site?.answer($0) ?? scene.assessments.answer($0) }.run { port in
            let remote = try WebScene(service, "base_url: \"http://localhost:\(port)\"", secret: secret, http: client)
            return await remote.send(token)
        }
        await client.shutDown()
        #expect(reply.isAccepted, "\(reply)")
    }

    @Test(
        "A token beyond the limit, and fields of other types, are mistakes of the client",
        arguments: PageService.allCases)
    func requests(_ service: PageService) async throws {
        let scene = try WebScene(service)
        let limit = service == .turnstile ? 2048 : 16_384
        #expect(await scene.send(String(repeating: "A", count: limit + 1)).failure?.status == .invalidArgument)
        #expect(await scene.send(String(repeating: "A", count: limit)).failure?.reason == service.reasons[.refused])
        for value in [1, "", ["a"], nil, true] as [JSON] {
            let reply = await scene.engine.call(service.method, scene.app, .object([JSONMember(service.field, value)]))
            #expect(reply.failure?.status == .invalidArgument)
        }
        #expect(scene.requests.count == 1)
    }

    @Test("Any text of visible characters reaches the service as one field", arguments: PageService.allCases)
    func hostile(_ service: PageService) async throws {
        let scene = try WebScene(service)
        for text in ["a&secret=b&response=c", "a+b%20%0D%0A%00", "{\"a\\u0000\"}", "a=b&idempotency_key=c"] {
            #expect(await scene.send(text).failure?.reason == service.reasons[.refused], "\(text)")
        }
    }

    @Test("The old name of reCAPTCHA v3's method is the same method, of v1beta alone")
    func oldName() async throws {
        let scene = try WebScene(.recaptchaV3)
        let reply = await scene.engine.call(
            "exchangeRecaptchaToken", scene.app, ["recaptcha_token": .string(scene.token())])
        #expect(reply.isAccepted, "\(reply)")
        let token = scene.token()
        #expect(
            await scene.engine.call("exchangeRecaptchaToken", scene.app, ["recaptchaToken": .string(token)]).isAccepted)
        #expect(await scene.send(token).failure?.reason == PageService.recaptchaV3.reasons[.used])
        let methods = RecaptchaV3Provider.methods.map(\.descriptor)
        let versions = methods.filter { $0.name == "exchangeRecaptchaToken" }.flatMap(\.rules).map(\.version)
        #expect(versions == [.v1beta])
        let rules = methods.filter { $0.name == "exchangeRecaptchaV3Token" }.flatMap(\.rules)
        #expect(rules.map(\.version) == [.v1, .v1beta])
    }
}

extension String {
    /// The name of a field in snake_case.
    fileprivate var replacingUpperCase: String {
        reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
    }
}
