#if Simulator
internal import AssayCore
internal import AssayTesting

/// What pages of the web do, whose users other services judge.
extension DemoScript {
    func playPages() async throws {
        let page = SimulatedPage(hostname: DemoPages.host, made: HostClock.system.now)
        for (title, method, field, token) in [
            (
                "a page shows a token of Turnstile", "exchangeTurnstileToken", "turnstile_token",
                pages.turnstile.token(page)
            ),
            ("a page shows a token of hCaptcha", "exchangeHcaptchaToken", "hcaptcha_token", pages.hcaptcha.token(page)),
            (
                "a page shows a token of reCAPTCHA v3", "exchangeRecaptchaV3Token", "recaptcha_v3_token",
                pages.recaptcha.token(page)
            ),
            (
                "a page shows a token of reCAPTCHA Enterprise", "exchangeRecaptchaEnterpriseToken",
                "recaptcha_enterprise_token", pages.assessments.token(page)
            ),
        ] {
            _ = try await report.step(title) { [self] in
                let answer = try await exchange(method, field, token)
                return (answer, "valid for \(try answer.text("ttl"))", ())
            }
        }
    }

    func playBadPages() async throws {
        let page = SimulatedPage(hostname: DemoPages.host, made: HostClock.system.now)
        var (other, program, login) = (page, page, page)
        other.hostname = "shop.example.org"
        program.score = 0.1
        login.action = "login"
        try await refused("a page of another site", "turnstile_host_mismatch") { [self, other] in
            try await exchange("exchangeTurnstileToken", "turnstile_token", pages.turnstile.token(other))
        }
        try await refused("a program before a page", "recaptcha_v3_low_score", status: 429) { [self, program] in
            try await exchange("exchangeRecaptchaV3Token", "recaptcha_v3_token", pages.recaptcha.token(program))
        }
        try await refused("the token of another action", "recaptcha_enterprise_action_mismatch") { [self, login] in
            try await exchange(
                "exchangeRecaptchaEnterpriseToken", "recaptcha_enterprise_token", pages.assessments.token(login))
        }
        let used = pages.hcaptcha.token(page)
        _ = try await exchange("exchangeHcaptchaToken", "hcaptcha_token", used)
        try await refused("a token that was exchanged before", "hcaptcha_token_used") { [self] in
            try await exchange("exchangeHcaptchaToken", "hcaptcha_token", used)
        }
    }

    private func exchange(_ method: String, _ field: String, _ token: String) async throws -> DemoClient.Answer {
        try await client.post("\(DemoPolicy.web):\(method)", body: .object([JSONMember(field, .string(token))]))
    }
}
#endif
