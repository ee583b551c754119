import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import AssayWeb
import Testing

@Suite("Services for pages, asked about a token")
struct WebUpstreamTests {
    /// What a service says about a token, and the reason.
    static let commonRefusals: [(PageService, ScriptedAnswer, WebTokenProblem)] =
        PageService.sites.flatMap { service -> [(PageService, ScriptedAnswer, WebTokenProblem)] in
            [
                (service, .codes("invalid-input-response"), .refused),
                (service, .codes("missing-input-response"), .refused),
                (service, .codes("bad-request"), .refused),
                (service, .json(400, #"{"success": false, "error-codes": ["bad-request"]}"#), .refused),
            ]
        }

    /// The same, of one service each.
    static let refusals: [(PageService, ScriptedAnswer, WebTokenProblem)] = [
        (.turnstile, .codes("timeout-or-duplicate"), .spent),
        (.recaptchaV3, .codes("timeout-or-duplicate"), .spent),
        (.hcaptcha, .codes("invalid-or-already-seen-response"), .spent),
        (.hcaptcha, .codes("already-seen-response"), .duplicate),
        (.hcaptcha, .codes("expired-input-response"), .expired),
        (.turnstile, .codes("a-new-code", "timeout-or-duplicate"), .spent),
        (.enterprise, .invalid("MALFORMED"), .refused), (.enterprise, .invalid("MISSING"), .refused),
        (.enterprise, .invalid("EXPIRED"), .expired), (.enterprise, .invalid("DUPE"), .duplicate),
        (.enterprise, .invalid("UNEXPECTED_ACTION"), .action), (.enterprise, .invalid("DOMAIN_MISMATCH"), .host),
        (.enterprise, .invalid("BROWSER_ERROR"), .browser), (.enterprise, .invalid("A_NEW_REASON"), .refused),
        (.enterprise, .json(200, #"{"tokenProperties": {}}"#), .refused),
    ]

    @Test("Each no of a service is a refusal with its reason, and is remembered", arguments: commonRefusals + refusals)
    func refused(_ service: PageService, _ answer: ScriptedAnswer, _ problem: WebTokenProblem) async throws {
        let scene = try WebScene(service)
        scene.script([answer])
        let token = scene.token()
        let reply = await scene.send(token)
        #expect(reply.failure?.reason == service.reasons[problem], "\(reply)")
        #expect(!scene.detail(reply).isEmpty && !scene.detail(reply).contains(token.prefix(16)))
        #expect(await scene.problem() == nil)
        let asked = scene.requests.count
        #expect(await scene.send(token).failure?.reason == service.reasons[.refused])
        #expect(scene.requests.count == asked)
    }

    /// What only the operator can correct.
    static let commonFaults: [(PageService, ScriptedAnswer)] =
        PageService.sites.flatMap { service -> [(PageService, ScriptedAnswer)] in
            [(service, .codes("invalid-input-secret")), (service, .codes("missing-input-secret"))]
        }

    /// The same, of one service each.
    static let faults: [(PageService, ScriptedAnswer)] = [
        (.turnstile, .codes("timeout-or-duplicate", "invalid-input-secret")),
        (.turnstile, .json(400, #"{"success": false, "error-codes": ["invalid-input-secret"]}"#)),
        (.hcaptcha, .codes("sitekey-secret-mismatch")), (.hcaptcha, .codes("not-using-dummy-passcode")),
        (.hcaptcha, .json(401, "")), (.recaptchaV3, .json(403, "")), (.enterprise, .invalid("KEY_MISMATCH")),
        (.enterprise, .google(403, "PERMISSION_DENIED")), (.enterprise, .google(400, "INVALID_ARGUMENT")),
        (.enterprise, .google(401, "UNAUTHENTICATED")),
    ]

    @Test(
        "The operator's fault is no refusal: it is shown in readiness until the service accepts again",
        arguments: commonFaults + faults)
    func operatorsFault(_ service: PageService, _ answer: ScriptedAnswer) async throws {
        let scene = try WebScene(service)
        #expect(await scene.problem() == nil)
        scene.script([answer])
        let token = scene.token()
        let reply = await scene.send(token)
        #expect(reply.failure?.status == .unavailable)
        #expect(reply.failure?.reason == nil && reply.failure?.retryAfter != nil)
        #expect(scene.detail(reply).hasPrefix("upstream_unauthorized"), "\(scene.detail(reply))")
        let problem = await scene.problem() ?? ""
        #expect(problem.contains("\(service.server) does not accept the credentials"), "\(problem)")
        // The token was not used up.
        #expect(await scene.send(token).isAccepted)
        #expect(await scene.problem() == nil)
    }

    @Test("A wrong secret is the operator's fault, and no record repeats it", arguments: PageService.allCases)
    func wrongSecret(_ service: PageService) async throws {
        let secret = "a-secret-that-nobody-may-see-0123456789"
        let scene = try WebScene(service, secret: secret)
        let reply = await scene.exchange()
        #expect(reply.failure?.status == .unavailable)
        #expect(await scene.problem() != nil)
        #expect(
            scene.requests.contains { request in
                String(decoding: request.body, as: UTF8.self).contains(secret)
                    || request.headers.contains { $0.value == secret }
            })
        #expect(!scene.requests.contains { $0.url.text.contains(secret) })
        #expect(!"\(scene.engine.sink.records)".contains(secret))
    }

    /// What is no answer, and the beginning of what is on record.
    static let ofAll: [(PageService, ScriptedAnswer, String)] =
        PageService.allCases.flatMap { service -> [(PageService, ScriptedAnswer, String)] in
            [
                (service, .json(200, ""), "upstream_malformed"), (service, .json(200, "{}"), "upstream_malformed"),
                (service, .json(200, "[]"), "upstream_malformed"), (service, .json(200, "{"), "upstream_malformed"),
                (service, .json(204, ""), "upstream_unexpected_status"),
                (service, .json(302, ""), "upstream_unexpected_status"),
                (service, .json(400, "no JSON"), "upstream_request_refused"),
                (service, .json(429, ""), "upstream_throttled"),
                (service, .json(500, ""), "upstream_unavailable"),
                (
                    service, .respond(OutboundResponse(status: 503, headers: [OutboundHeader("Retry-After", "60")])),
                    "upstream_unavailable"
                ),
                (service, .hangUp, "upstream_interrupted"), (service, .silence, "upstream_timed_out"),
                (
                    service, .respond(OutboundResponse(status: 200, body: [UInt8](repeating: 0x20, count: 1 << 20))),
                    "upstream_too_large"
                ),
            ]
        }

    /// The same, of those that answer `siteverify`.
    static let ofSites: [(PageService, ScriptedAnswer, String)] =
        PageService.sites.flatMap { service -> [(PageService, ScriptedAnswer, String)] in
            [
                (service, .codes(), "upstream_request_refused"),
                (service, .codes("a-new-code"), "upstream_request_refused"),
                (service, .json(200, #"{"success": "true"}"#), "upstream_malformed"),
                (service, .json(200, #"{"success": true, "success": true}"#), "upstream_malformed"),
                (
                    service, .json(200, #"{"success": false, "error-codes": "timeout-or-duplicate"}"#),
                    "upstream_malformed"
                ),
                (service, .json(200, #"{"success": false, "error-codes": [1]}"#), "upstream_malformed"),
                (service, .json(200, #"{"success": true, "hostname": "example.com"}"#), "upstream_malformed"),
                (service, .json(200, #"{"success": true, "challenge_ts": "yesterday"}"#), "upstream_malformed"),
                (
                    service, .json(200, #"{"success": true, "challenge_ts": 1, "hostname": "example.com"}"#),
                    "upstream_malformed"
                ),
                (
                    service,
                    .json(
                        200,
                        #"{"success": true, "challenge_ts": "2026-01-01T00:00:00Z", "hostname": 1}"#),
                    "upstream_malformed"
                ),
                (
                    service,
                    .json(
                        200,
                        #"{"success": true, "challenge_ts": "2026-01-01T00:00:00Z", "hostname": "a", "error-codes": ["x"]}"#
                    ),
                    "upstream_malformed"
                ),
                (
                    service, .json(400, #"{"success": true, "challenge_ts": "2026-01-01T00:00:00Z"}"#),
                    "upstream_malformed"
                ),
            ]
        }

    /// The same, of scores that are none.
    static let ofScores: [(PageService, ScriptedAnswer, String)] = ["null", "2", "-0.1", "\"0.9\"", "true"].map {
        score in
        (
            .recaptchaV3,
            .json(
                200,
                "{\"success\": true, \"challenge_ts\": \"2026-01-01T00:00:00Z\", \"hostname\": \"example.com\", \"action\": \"fire_app_check\", \"score\": \(score)}"
            ), "upstream_malformed"
        )
    }

    /// The same, of one service each.
    static let ofOne: [(PageService, ScriptedAnswer, String)] = [
        (.turnstile, .codes("internal-error"), "upstream_unavailable"),
        (.enterprise, .json(200, #"{"tokenProperties": []}"#), "upstream_malformed"),
        (.enterprise, .json(200, #"{"tokenProperties": {"valid": true}}"#), "upstream_malformed"),
        (
            .enterprise, .json(200, #"{"tokenProperties": {"valid": true, "createTime": "now"}}"#),
            "upstream_malformed"
        ),
        (
            .enterprise,
            .json(
                200,
                #"{"tokenProperties": {"valid": true, "invalidReason": "DUPE", "createTime": "2026-01-01T00:00:00Z"}}"#
            ),
            "upstream_malformed"
        ),
        (
            .enterprise,
            .json(
                200,
                #"{"tokenProperties": {"valid": true, "createTime": "2026-01-01T00:00:00Z"}, "riskAnalysis": {"score": 1.1}}"#
            ),
            "upstream_malformed"
        ), (.enterprise, .google(404, "NOT_FOUND"), "upstream_unexpected_status"),
    ]

    @Test(
        "Answers that do not say whether a token is genuine decide nothing",
        arguments: ofAll + ofSites + ofScores + ofOne)
    func decidesNothing(_ service: PageService, _ answer: ScriptedAnswer, _ expected: String) async throws {
        let scene = try WebScene(service)
        let token = scene.token()
        scene.script([answer, answer, answer])
        let reply = await scene.sendWithoutWaiting(token)
        #expect(reply.failure?.status == .unavailable)
        let detail = scene.detail(reply)
        #expect(detail.hasPrefix(expected), "\(detail)")
        #expect(!detail.contains(token.prefix(16)))
    }

    @Test("Turnstile is asked again with the same key, and a lost answer is given again")
    func idempotency() async throws {
        let scene = try WebScene(.turnstile)
        scene.script([.codes("internal-error"), .hangUp])
        let reply = await scene.sendWithoutWaiting(scene.token())
        #expect(reply.isAccepted, "\(reply)")
        let keys = scene.requests.map { request in
            String(decoding: request.body, as: UTF8.self).split(separator: "&").first {
                $0.hasPrefix("idempotency_key=")
            }
        }
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0]?.count == 52, "\(keys)")
        // Another exchange has another key.
        #expect(await scene.exchange().isAccepted)
        #expect(Set(scene.requests.map(\.body)).count == 2)
    }

    @Test(
        "After a lost answer others are not asked again, because the token may be used up",
        arguments: [PageService.hcaptcha, .recaptchaV3, .enterprise])
    func noSecondTry(_ service: PageService) async throws {
        let scene = try WebScene(service)
        scene.script([.hangUp])
        let reply = await scene.sendWithoutWaiting(scene.token())
        #expect(reply.failure?.status == .unavailable)
        #expect(scene.requests.count == 1)
        // Where a failed try may have used the token up, a no decides nothing.
        scene.script([.json(500, "")])
        let token = scene.token { $0.made = $0.made - .seconds(290) }
        let second = await scene.sendWithoutWaiting(token)
        #expect(scene.detail(second).hasPrefix("upstream_ambiguous"), "\(scene.detail(second))")
    }

    @Test(
        "The circuit opens after five failures, for all who ask the service, and nobody is refused",
        arguments: PageService.allCases)
    func circuit(_ service: PageService) async throws {
        let scene = try WebScene(service)
        scene.script(Array(repeating: .json(200, "no JSON"), count: 5))
        for _ in 0..<5 { #expect(await scene.exchange().failure?.status == .unavailable) }
        let token = scene.token()
        let reply = await scene.send(token)
        #expect(scene.detail(reply).hasPrefix("upstream_circuit_open"), "\(scene.detail(reply))")
        #expect(scene.requests.count == 5)
        scene.advance(by: .seconds(31))
        #expect(await scene.send(token).isAccepted)
    }

    @Test("A peer that sends junk is not asked about any more, and others are", arguments: PageService.allCases)
    func junk(_ service: PageService) async throws {
        let scene = try WebScene(service)
        var reasons: [Reason?] = []
        for number in 0..<12 {
            reasons.append(await scene.send("junk-\(number)", from: "198.51.100.7").failure?.reason)
        }
        #expect(reasons.prefix(10).allSatisfy { $0 == service.reasons[.refused] })
        #expect(reasons.suffix(2).allSatisfy { $0 == service.reasons[.limited] })
        #expect(await scene.exchange().isAccepted)
    }

    @Test("Requests are as the services document them", arguments: PageService.sites)
    func requests(_ service: PageService) async throws {
        let scene = try WebScene(
            service, service == .hcaptcha ? "site_key: \(WebScene(.hcaptcha).site?.siteKey ?? "")" : "")
        #expect(await scene.exchange().isAccepted)
        let request = try #require(scene.requests.first)
        #expect(request.url.host == service.server && request.url.isSecure && request.method == .post)
        #expect(request.url.path == scene.site?.service.path)
        #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
        let names = String(decoding: request.body, as: UTF8.self).split(separator: "&").map { $0.prefix { $0 != "=" } }
        let further: [Substring] = service == .turnstile ? ["idempotency_key"] : service == .hcaptcha ? ["sitekey"] : []
        #expect(names == ["secret", "response"] + further)
    }
}
