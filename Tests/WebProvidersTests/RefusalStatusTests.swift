import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import AssayWeb
import Testing

@Suite("The status of a refusal")
struct RefusalStatusTests {
    private static func status(_ reply: Reply) -> StatusCode? { reply.failure?.status }

    private static func recorded(_ reply: Reply, _ scene: WebScene) -> RefusalStatus? {
        if case .refused(let reason)? = scene.engine.record(of: reply)?.outcome { reason.status } else { nil }
    }

    @Test("A low score is answered with 429, all else with 403", arguments: PageService.allCases)
    func standard(_ service: PageService) async throws {
        let scene = try WebScene(service)
        if service != .turnstile {
            let low = await scene.exchange { $0.score = 0 }
            #expect(low.failure?.reason == service.reasons[.score])
            #expect(Self.status(low) == .resourceExhausted && low.failure?.message == "App attestation failed.")
            #expect(Self.recorded(low, scene) == .tooManyRequests)
        }
        let others = [await scene.exchange { $0.hostname = "example.org" }, await scene.send("unknown")]
        for reply in others {
            #expect(Self.status(reply) == .permissionDenied)
            #expect(Self.recorded(reply, scene) == .forbidden)
        }
        for reason in service.reasons.all {
            #expect(reason.status == (reason.code.hasSuffix("_low_score") ? .tooManyRequests : .forbidden), "\(reason)")
        }
    }

    @Test("A policy chooses the status of each reason of a provider, and of its own reasons only")
    func chosen() async throws {
        let scene = try WebScene(
            .recaptchaV3,
            """
            refusal_status:
              recaptcha_v3_low_score: 403
              recaptcha_v3_host_mismatch: 401
              recaptcha_v3_token_used: 429
            """, isForgetful: true)
        let low = await scene.exchange { $0.score = 0 }
        #expect(Self.status(low) == .permissionDenied && Self.recorded(low, scene) == .forbidden)
        let other = await scene.exchange { $0.hostname = "example.org" }
        #expect(Self.status(other) == .unauthenticated && Self.recorded(other, scene) == .unauthorized)
        let token = scene.token()
        #expect(await scene.send(token).isAccepted)
        // Also where the state refuses it.
        let used = await scene.send(token)
        #expect(used.failure?.reason == PageService.recaptchaV3.reasons[.used])
        #expect(Self.status(used) == .resourceExhausted)
        let action = await scene.exchange { $0.action = "login" }
        #expect(Self.status(action) == .permissionDenied)
    }

    @Test(
        "Another status, and a reason of another provider, are refused at their place",
        arguments: [
            ("recaptcha_v3_low_score: 404", "expected 401, 403 or 429"),
            ("recaptcha_v3_low_score: 200", "expected 401, 403 or 429"),
            ("recaptcha_v3_low_score: often", "recaptcha_v3_low_score"),
            ("turnstile_token_spent: 429", "`turnstile_token_spent` is no reason of recaptcha_v3"),
            ("recaptcha_v3_low_scores: 429", "`recaptcha_v3_low_scores` is no reason"),
            ("rule_refused: 429", "no reason"),
        ])
    func mistakes(_ line: String, _ expected: String) {
        do {
            _ = try WebScene(.recaptchaV3, "refusal_status: {\(line)}")
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains(expected) && "\(error)".contains("refusal_status"), "\(error)")
        }
    }

    @Test("The provider's own answers keep their status")
    func limited() async throws {
        let scene = try WebScene(.turnstile, "refusal_status: {turnstile_token_refused: 401}")
        for number in 0..<10 {
            #expect(Self.status(await scene.send("junk-\(number)", from: "198.51.100.7")) == .unauthenticated)
        }
        let limited = await scene.send("junk", from: "198.51.100.7")
        #expect(limited.failure?.reason == PageService.turnstile.reasons[.limited])
        #expect(Self.status(limited) == .resourceExhausted && limited.failure?.retryAfter != nil)
    }
}
