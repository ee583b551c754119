import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import AssayWeb
import Logging
import Testing

@Suite("The sections of providers for pages")
struct WebSectionTests {
    @Test(
        "An origin is what browsers write",
        arguments: [
            ("https://example.com", "example.com"), ("https://a.b-c.example.com:8443", "a.b-c.example.com"),
            ("https://xn--bcher-kva.example", "xn--bcher-kva.example"), ("https://192.0.2.1", "192.0.2.1"),
            ("http://localhost:3000", "localhost"), ("http://127.0.0.1", "127.0.0.1"),
        ])
    func origins(_ text: String, _ host: String) throws {
        #expect(try #require(WebOrigin(text)).host == host)
    }

    @Test(
        "No other text is an origin",
        arguments: [
            "", "example.com", "http://example.com", "https://", "https://example.com/", "https://example.com/path",
            "https://example.com?a", "https://Example.com", "HTTPS://example.com", "https://example.com:443",
            "http://localhost:80", "https://user@example.com", "https://example.com:0", "https://example.com:99999",
            "https://*.example.com", "https://bücher.example", "https://[::1]", "https://_a.example",
            "https://-a.example",
            "null", "https://example.com#a", " https://example.com", "ftp://example.com",
        ])
    func noOrigins(_ text: String) {
        #expect(WebOrigin(text) == nil)
    }

    /// Mistakes in the sections, and a part of the message.
    static let ofAll: [(PageService, String, String, String)] =
        PageService.allCases.flatMap { service -> [(PageService, String, String, String)] in
            [
                (service, "max_age: 10s", web, "max_age"), (service, "max_age: 11m", web, "max_age"),
                (service, "base_url: \"https://example.com/?a=b\"", web, "base_url"),
                (service, "unknown: 1", web, "unknown"),
                (service, "", "web: {origins: []}", "origins"),
                (service, "", "web: {origins: [\"https://a.example\", \"https://a.example\"]}", "each once"),
                (service, "", "web: {origins: [\"https://example.com/path\"]}", "expected an origin"),
                (service, "", "name: Pages", "`web`"),
            ]
        }

    /// The same, of one provider each.
    static let ofOne: [(PageService, String, String, String)] = [
        (.turnstile, "actions: []", web, "actions"), (.hcaptcha, "actions: [a]", web, "actions"),
        (.turnstile, "min_score: 0.5", web, "min_score"), (.recaptchaV3, "min_score: 1.01", web, "min_score"),
        (.hcaptcha, "max_score: -1", web, "max_score"), (.hcaptcha, "site_key: \"\"", web, "site_key"),
        (.recaptchaV3, "min_score: high", web, "min_score"), (.enterprise, "min_score: 2", web, "min_score"),
        (.enterprise, "cloud_project: \"a/b\"", web, "cloud_project"),
    ]

    private static let web = "web: {origins: [\"https://example.com\"]}"

    @Test("Mistakes are refused at their key", arguments: ofAll + ofOne)
    func mistake(_ service: PageService, _ section: String, _ sections: String, _ expected: String) {
        do {
            _ = try WebScene(service, section, sections: sections)
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains(expected), "\(error)")
        }
    }

    @Test(
        "A secret that is no visible text is refused, and the message does not have it", arguments: PageService.allCases
    )
    func secrets(_ service: PageService) {
        for secret in ["with a space", "line\nend", String(repeating: "x", count: 513)] {
            let error = #expect(throws: (any Error).self) { try WebScene(service, secret: secret) }
            #expect(!"\(error.map { "\($0)" } ?? "")".contains(secret))
        }
    }

    @Test("Exactly one of an API key and a service account may ask Google")
    func access() {
        for access in ["", "api_key: env:KEY\nservice_account: env:ACCOUNT", "service_account: env:KEY"] {
            #expect(throws: (any Error).self) { try WebScene(.enterprise, access: access) }
        }
    }

    @Test("reCAPTCHA Enterprise needs the section of a page or of an app, and the others that of a page")
    func platforms() throws {
        for (sections, platform) in [
            (
                "android: {package: com.example.app, signing_digests: [\"\(String(repeating: "ab", count: 32))\"]}",
                "android"
            ),
            ("apple: {team_id: ABCDE12345, bundle_id: com.example.app}", "ios"),
        ] {
            _ = try WebScene(.enterprise, sections: sections, platform: platform)
            #expect(throws: (any Error).self) { try WebScene(.hcaptcha, sections: sections, platform: platform) }
        }
    }

    @Test(
        "A server for production refuses other servers, and pages of this machine, at their line",
        arguments: PageService.allCases)
    func production(_ service: PageService) throws {
        let registry = try Registry([service.plugin], administration: .api)
        let own =
            switch service {
            case .turnstile, .hcaptcha: "secret: env:KEY"
            case .recaptchaV3: "site_secret: env:KEY"
            case .enterprise: "site_key: key\n            api_key: env:KEY"
            }
        for (origin, further, isRefused) in [
            ("https://example.com", "max_age: 1m", false),
            ("https://example.com", "base_url: \"http://localhost:1\"", true),
            ("http://localhost:3000", "max_age: 1m", true),
        ] {
            let text = """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:web:321abc456def7890
                        web: {origins: ["\(origin)"]}
                        providers:
                          \(service.rawValue):
                            \(own)
                            \(further)
                """
            let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
            let host = PluginHost(
                store: MemoryStore(clock: .system), secrets: SecretSource { _ in Array("secret".utf8) },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            var problem = ""
            do {
                _ = try policies.check(registry, host: host, refusesDevelopment: true)
            } catch {
                problem = "\(error)"
            }
            #expect(problem.isEmpty != isRefused, "\(origin) \(further): \(problem)")
            if isRefused { #expect(problem.contains("a.yaml:"), "\(problem)") }
        }
    }
}

@Suite("The config resources of reCAPTCHA")
struct RecaptchaConfigTests {
    private func call(_ scene: WebScene, _ method: String, _ resource: String = WebScene.app, _ body: JSON = [:]) async
        -> Reply
    {
        await scene.engine.call(method, resource, body, credentials: WebScene.administrator)
    }

    @Test("They have Google's fields, and never the secret")
    func fields() async throws {
        let v3 = try WebScene(.recaptchaV3, "min_score: 0.7")
        let reply = try await call(v3, "getRecaptchaV3Config").result.get()
        #expect(
            reply == [
                "name": .string("\(WebScene.app)/recaptchaV3Config"), "tokenTtl": "3600s", "siteSecretSet": true,
                "minValidScore": .number(0.7),
            ])
        let enterprise = try WebScene(.enterprise)
        let config = try await call(enterprise, "getRecaptchaEnterpriseConfig").result.get()
        let expected: JSON = [
            "name": .string("\(WebScene.app)/recaptchaEnterpriseConfig"), "tokenTtl": "3600s",
            "siteKey": .string(enterprise.assessments.siteKey), "riskAnalysis": ["minValidScore": .number(0.5)],
        ]
        #expect(config == expected)
        let batch = await call(enterprise, "batchGetRecaptchaEnterpriseConfigs", "projects/example-project")
        #expect(try batch.result.get() == ["configs": [expected]])
        #expect(await v3.engine.call("getRecaptchaV3Config", WebScene.app).failure?.status == .unauthenticated)
    }

    /// An update of the config resource of v3, and whether it says what the policy says.
    static let updates: [(mask: String, config: JSON, isSame: Bool)] = [
        ("minValidScore", ["minValidScore": .number(0.5)], true), ("min_valid_score", [:], true),
        ("minValidScore", ["min_valid_score": .number(0.5)], true),
        ("minValidScore", ["minValidScore": .number(0.7)], false),
        ("minValidScore", ["minValidScore": 1], false), ("minValidScore", ["minValidScore": "0.5"], false),
        ("minValidScore,tokenTtl", ["tokenTtl": "3600s"], true), ("tokenTtl", ["tokenTtl": "7200s"], false),
        ("siteSecret", ["siteSecret": "another"], false), ("*", ["siteSecretSet": true], false),
        ("*", ["siteSecretSet": true, "tokenTtl": "3600s"], true),
    ]

    @Test("An update succeeds if it says what the policy says", arguments: updates)
    func update(_ mask: String, _ config: JSON, _ isSame: Bool) async throws {
        let reply = await call(
            try WebScene(.recaptchaV3), "updateRecaptchaV3Config", WebScene.app,
            ["updateMask": .string(mask), "config": config])
        #expect(reply.isAccepted == isSame, "\(reply)")
        if !isSame { #expect(reply.failure?.status == .failedPrecondition) }
    }

    @Test("The same within riskAnalysis")
    func enterprise() async throws {
        for (score, isSame) in [(0.8, true), (0.5, false)] {
            let reply = await call(
                try WebScene(.enterprise, "min_score: 0.8"), "updateRecaptchaEnterpriseConfig", WebScene.app,
                [
                    "updateMask": "riskAnalysis.minValidScore",
                    "config": ["riskAnalysis": ["minValidScore": .number(score)]],
                ])
            #expect(reply.isAccepted == isSame, "\(reply)")
        }
    }
}
