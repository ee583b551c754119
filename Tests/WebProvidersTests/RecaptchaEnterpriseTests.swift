import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import AssayWeb
import Testing

@Suite("Assessments of reCAPTCHA Enterprise")
struct RecaptchaEnterpriseTests {
    @Test("An API key is a header field, and requests are as Google documents them")
    func apiKey() async throws {
        let scene = try WebScene(.enterprise)
        let token = scene.token()
        #expect(await scene.send(token).isAccepted)
        let request = try #require(scene.requests.first)
        #expect(
            request.url.text == "https://recaptchaenterprise.googleapis.com/v1/projects/example-project/assessments")
        #expect(request.header("X-Goog-Api-Key") == scene.assessments.apiKey && request.header("Authorization") == nil)
        #expect(
            try JSON.parse(request.body) == [
                "event": [
                    "token": .string(token), "siteKey": .string(scene.assessments.siteKey),
                    "expectedAction": "fire_app_check",
                ]
            ])
    }

    @Test("Of several actions none is named to Google, and each passes")
    func actions() async throws {
        let scene = try WebScene(.enterprise, "actions: [fire_app_check, login]")
        #expect(await scene.exchange { $0.action = "login" }.isAccepted)
        let body = String(decoding: scene.requests.first?.body ?? [], as: UTF8.self)
        #expect(!body.isEmpty && !body.contains("expectedAction"))
    }

    @Test("A service account gets an access token, which serves all requests")
    func account() async throws {
        let scene = try WebScene(.enterprise, access: "service_account: env:ACCOUNT")
        for _ in 0..<3 { #expect(await scene.exchange().isAccepted) }
        #expect(scene.requests.count { $0.url.host == "oauth2.googleapis.com" } == 1)
        #expect(scene.requests.last?.header("Authorization")?.hasPrefix("Bearer ya29.") == true)
        #expect(scene.requests.last?.header("X-Goog-Api-Key") == nil)
    }

    @Test("An account that Google does not accept is shown in readiness")
    func wrongAccount() async throws {
        let scene = try WebScene(.enterprise, access: "service_account: env:ACCOUNT")
        // Time stands still, so that the second assertion would be the first one again, and is not sent.
        scene.script([.json(400, #"{"error": "invalid_grant"}"#)])
        #expect(await scene.exchange().failure?.status == .unavailable)
        #expect(await scene.problem()?.contains("oauth2.googleapis.com does not accept") == true)
        #expect(await scene.exchange().isAccepted)
        #expect(await scene.problem() == nil)
    }

    @Test("A token of an app passes in the app that it is of, and in no other", arguments: ["android", "apple"])
    func apps(_ system: String) async throws {
        let sections = [
            "android":
                "android: {package: com.example.app, signing_digests: [\"\(String(repeating: "ab", count: 32))\"]}",
            "apple": "apple: {team_id: ABCDE12345, bundle_id: com.example.app}",
        ]
        let platform = system == "android" ? "android" : "ios"
        let scene = try WebScene(.enterprise, sections: sections[system] ?? "", platform: platform)
        let app = "projects/1234567890/apps/1:1234567890:\(platform):321abc456def7890"
        func exchange(_ android: String?, _ apple: String?, host: String? = nil) async -> Reply {
            let token = scene.token { ($0.hostname, $0.androidPackage, $0.bundleID) = (host, android, apple) }
            return await scene.send(token, app: app)
        }
        let (name, reasons) = ("com.example.app", PageService.enterprise.reasons)
        let own = system == "android" ? await exchange(name, nil) : await exchange(nil, name)
        #expect(own.isAccepted, "\(own)")
        #expect(scene.facts(own).contains(Fact(WebTokenFacts.app, .text(name))))
        let other =
            system == "android" ? await exchange("com.example.other", nil) : await exchange(nil, "com.example.other")
        #expect(other.failure?.reason == reasons[.app])
        #expect(scene.detail(other) == "'com.example.other', expected 'com.example.app'")
        let wrongSystem = system == "android" ? await exchange(nil, name) : await exchange(name, nil)
        #expect(wrongSystem.failure?.reason == reasons[.app])
        // A page is not the app, also with the app's name beside it.
        let page =
            system == "android"
            ? await exchange(name, nil, host: "example.com") : await exchange(nil, name, host: "example.com")
        #expect(page.failure?.reason == reasons[.host])
        #expect(await exchange(nil, nil).failure?.reason == reasons[.host])
        #expect(await exchange(nil, nil, host: "example.com").failure?.reason == reasons[.host])
    }

    @Test("A token of a page and an app needs both names")
    func both() async throws {
        let scene = try WebScene(.enterprise)
        #expect(
            await scene.exchange { $0.androidPackage = "com.example.app" }.failure?.reason
                == PageService.enterprise.reasons[.app])
    }

    @Test("Both values are on record of what Google refuses for its action or host")
    func details() async throws {
        let scene = try WebScene(.enterprise)
        for (reason, words) in [
            ("UNEXPECTED_ACTION", "UNEXPECTED_ACTION: 'login', expected 'fire_app_check'"),
            ("DOMAIN_MISMATCH", "DOMAIN_MISMATCH: 'evil.example', expected a host of the site key"),
        ] {
            scene.script([
                .json(
                    200,
                    "{\"tokenProperties\": {\"valid\": false, \"invalidReason\": \"\(reason)\", \"action\": \"login\", \"hostname\": \"evil.example\"}}"
                )
            ])
            #expect(scene.detail(await scene.exchange()) == words)
        }
    }
}
