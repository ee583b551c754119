#if Simulator
internal import AssayCore
internal import AssayHCaptcha
internal import AssayKit
internal import AssayRecaptchaV3
internal import AssayTesting
internal import AssayTurnstile
internal import AssayWeb

extension ProviderSubject {
    /// Pages whose tokens a simulated Cloudflare knows.
    static var turnstile: ProviderSubject {
        let pages = SuitePages(.turnstile, TurnstileProvider.reasons)
        return pages.subject(
            [pages.exchange("exchangeTurnstileToken", "turnstileToken")],
            section: "secret: env:SECRET\nmax_age: 1m",
            wrongSections: [
                "secret: env:MISSING # wrong", "secret: env:SECRET\nactions: [] # wrong",
                "secret: env:SECRET\nmax_age: 1h # wrong",
            ],
            optionalMembers: [
                "cdata": "nothing relies on it", "metadata": "nothing relies on it",
                "metadata.interactive": "nothing relies on it", "error-codes": "the token is genuine",
            ],
            simulator: PageSimulator(.turnstile, "turnstile", "exchangeTurnstileToken", "turnstileToken"))
    }

    /// Pages whose tokens a simulated hCaptcha knows.
    static var hcaptcha: ProviderSubject {
        let pages = SuitePages(.hcaptcha, HCaptchaProvider.reasons)
        return pages.subject(
            [pages.exchange("exchangeHcaptchaToken", "hcaptchaToken")],
            section: "secret: env:SECRET\nsite_key: \(pages.service.siteKey)\nmax_age: 1m\nmax_score: 0.4",
            wrongSections: ["secret: env:MISSING # wrong", "secret: env:SECRET\nmax_score: 1.5 # wrong"],
            denials: [(["already-seen-response"], .duplicate), (["expired-input-response"], .expired)],
            undecided: [["sitekey-secret-mismatch"], ["not-using-dummy-passcode"]],
            optionalMembers: [
                "credit": "nothing relies on it", "score_reason": "it is a fact, and nothing relies on it",
            ],
            simulator: PageSimulator(.hcaptcha, "hcaptcha", "exchangeHcaptchaToken", "hcaptchaToken"))
    }

    /// Pages whose tokens a simulated Google knows.
    static var recaptchaV3: ProviderSubject {
        let pages = SuitePages(.recaptchaV3, RecaptchaV3Provider.reasons)
        return pages.subject(
            [
                pages.exchange("exchangeRecaptchaV3Token", "recaptchaV3Token"),
                pages.exchange("exchangeRecaptchaToken", "recaptchaToken"),
            ],
            section: "site_secret: env:SECRET\nmax_age: 1m\nmin_score: 0.6",
            wrongSections: ["site_secret: env:MISSING # wrong", "site_secret: env:SECRET\nmin_score: -0.1 # wrong"],
            optionalMembers: [:],
            simulator: PageSimulator(.recaptchaV3, "recaptcha_v3", "exchangeRecaptchaV3Token", "recaptchaV3Token"))
    }
}

/// Pages of a simulated service, and what goes wrong with their tokens.
private struct SuitePages: Sendable {
    let service: SimulatedSiteVerification
    private let reasons: WebTokenReasons

    init(_ kind: SimulatedSiteVerification.Service, _ reasons: WebTokenReasons) {
        service = SimulatedSiteVerification(kind, clock: ManualClock().hostClock)
        self.reasons = reasons
    }

    func subject(
        _ exchanges: [ProviderSubject.Exchange], section: String, wrongSections: [String],
        denials: [([String], WebTokenProblem)] = [], undecided: [[String]] = [], optionalMembers: [String: String],
        simulator: PageSimulator
    ) -> ProviderSubject {
        let secret = Array(service.secret.utf8)
        let spent = ([service.service.spentCode], WebTokenProblem.spent)
        let refused = ["invalid-input-response", "missing-input-response", "bad-request"].map {
            ([$0], WebTokenProblem.refused)
        }
        return ProviderSubject(
            exchanges: exchanges, section: { _ in section }, wrongSections: wrongSections,
            app: { "web: {origins: [\"https://\(Self.host($0))\"]}" }, platform: "web",
            secrets: SecretSource { $0.place == .environment("SECRET") ? secret : nil }, secretTexts: [service.secret],
            upstream: { [service] in service.answer($0).response },
            denials: ([spent] + refused + denials).map { codes, _ in
                UpstreamDenial("\(codes)", SimulatedSiteVerification.refusal(codes))
            },
            undecided: ([["missing-input-secret"], ["invalid-input-secret"], ["a-new-code"], []] + undecided).map {
                UpstreamDenial("\($0)", SimulatedSiteVerification.refusal($0))
            }, optionalMembers: optionalMembers, simulator: simulator)
    }

    func exchange(_ method: String, _ field: String) -> ProviderSubject.Exchange {
        let judged = "the service judges a token, and the provider sees nothing in it"
        func request(_ change: @escaping @Sendable (inout SimulatedPage) -> Void) -> @Sendable (TestDevice) -> JSON {
            { device in [field: .string(token(device, change))] }
        }
        var adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] = [
            .wrongAuthority: .impossible(judged), .otherKey: .impossible(judged),
            .otherApp: .request(reasons[.host], request { $0.hostname = "other.example.com" }),
            .untrustedDevice: .impossible("the service says nothing of the device"),
            .expired: .request(reasons[.tooOld], request { $0.made = $0.made - .seconds(90) }),
            .future: .request(reasons[.inFuture], request { $0.made = $0.made + .seconds(90) }),
            .malformed: .request(reasons[.refused]) { _ in [field: "no token of the service"] },
            .downgraded: .impossible("a token has no algorithm and no levels"),
            Adversary("no-host", "a token of no page gets no token"): .request(
                reasons[.host], request { $0.hostname = nil }),
            Adversary("host-in-upper-case", "a host in another spelling is another host"): .request(
                reasons[.host], request { $0.hostname = $0.hostname?.uppercasedASCII }),
            Adversary("spent", "a token that the service ended gets no token"): .request(
                reasons[.spent], request { $0.made = $0.made - .seconds(400) }),
        ]
        if service.service != .hcaptcha {
            adversaries[Adversary("other-action", "a token for another action gets no token")] = .request(
                reasons[.action], request { $0.action = "login" })
            adversaries[Adversary("no-action", "a token for no action gets no token")] = .request(
                reasons[.action], request { $0.action = "" })
        }
        if service.service != .turnstile {
            adversaries[.untrustedDevice] = .request(reasons[.score], request { $0.score = 0.5 })
        }
        return ProviderSubject.Exchange(
            method, lifetime: .seconds(60), adversaries: adversaries,
            variants: [
                "a token whose clock is a little ahead": request { $0.made = $0.made + .seconds(30) },
                "a page with a risk": request { $0.risks = ["a_reason"] },
            ], request: request { _ in })
    }

    private func token(_ device: TestDevice, _ change: (inout SimulatedPage) -> Void) -> String {
        var page = SimulatedPage(hostname: Self.host(device.app), made: device.now)
        change(&page)
        return service.token(page)
    }

    static func host(_ app: TestApp) -> String { "app\(app.rawValue).example.com" }
}
#endif
