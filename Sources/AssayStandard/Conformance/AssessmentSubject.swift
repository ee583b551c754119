#if Simulator
internal import AssayCore
internal import AssayKit
internal import AssayRecaptchaEnterprise
internal import AssayTesting
internal import AssayWeb

extension ProviderSubject {
    /// Pages whose tokens a simulated reCAPTCHA Enterprise knows.
    static func recaptchaEnterprise() throws -> ProviderSubject {
        let service = try SimulatedAssessments(clock: ManualClock().hostClock)
        let secrets = ["KEY": Array(service.apiKey.utf8), "ACCOUNT": Array(service.accountFile.utf8)]
        let section = "site_key: \(service.siteKey)\ncloud_project: \(service.project)"
        let isAssessment: @Sendable (OutboundRequest) -> Bool = { $0.url.path.ends(withExactly: "/assessments") }
        return ProviderSubject(
            exchanges: [exchange(service)],
            section: { app in
                // One app asks with a key, the others as a service account.
                """
                \(section)
                \(app == .second ? "api_key: env:KEY" : "service_account: env:ACCOUNT")
                max_age: 1m
                min_score: 0.6
                """
            },
            wrongSections: [
                "\(section)\napi_key: env:MISSING # wrong", "\(section)\nservice_account: env:KEY # wrong",
                "\(section)\napi_key: env:KEY\nmin_score: 2 # wrong", "site_key: \"a key\" # wrong\napi_key: env:KEY",
                "site_key: key\napi_key: env:KEY\ncloud_project: A/B # wrong",
            ],
            app: { "web: {origins: [\"https://\(host($0))\"]}" }, platform: "web",
            secrets: SecretSource { reference in
                secrets.first { reference.place == .environment($0.key) }?.value
            }, secretTexts: [service.apiKey, service.accountFile],
            upstream: { service.answer($0).response },
            denials: [
                "MALFORMED", "MISSING", "EXPIRED", "DUPE", "UNEXPECTED_ACTION", "DOMAIN_MISMATCH", "BROWSER_ERROR",
                "UNKNOWN_INVALID_REASON", "A_NEW_REASON",
            ].map { UpstreamDenial($0, SimulatedAssessments.refusal($0), matches: isAssessment) },
            undecided: [
                UpstreamDenial(
                    "that the token is of another key", SimulatedAssessments.refusal("KEY_MISMATCH"),
                    matches: isAssessment),
                UpstreamDenial(
                    "that the caller may not ask", SimulatedPlayService.error(403, "PERMISSION_DENIED"),
                    matches: isAssessment),
                UpstreamDenial(
                    "that the API key is invalid", SimulatedPlayService.error(400, "INVALID_ARGUMENT"),
                    matches: isAssessment),
            ],
            optionalMembers: [
                "token_type": "Google's access tokens are bearer tokens", "name": "nothing relies on it",
                "event": "it repeats the question", "event.token": "it repeats the question",
                "event.siteKey": "it repeats the question", "event.expectedAction": "it repeats the question",
                "riskAnalysis.reasons": "it is a fact, and nothing relies on it",
                "tokenProperties.invalidReason": "the token is valid",
            ], simulator: AssessmentSimulator())
    }

    private static func exchange(_ service: SimulatedAssessments) -> Exchange {
        let reasons = RecaptchaEnterpriseProvider.reasons
        let judged = "Google judges a token, and the provider sees nothing in it"
        func request(
            invalid: String? = nil, _ change: @escaping @Sendable (inout SimulatedPage) -> Void = { _ in }
        ) -> @Sendable (TestDevice) -> JSON {
            { device in
                var page = SimulatedPage(hostname: host(device.app), made: device.now)
                change(&page)
                return ["recaptchaEnterpriseToken": .string(service.token(page, invalid: invalid))]
            }
        }
        return Exchange(
            "exchangeRecaptchaEnterpriseToken", lifetime: .seconds(60),
            adversaries: [
                .wrongAuthority: .impossible(judged), .otherKey: .impossible(judged),
                .otherApp: .request(reasons[.host], request { $0.hostname = "other.example.com" }),
                .untrustedDevice: .request(reasons[.score], request { $0.score = 0.5 }),
                .expired: .request(reasons[.tooOld], request { $0.made = $0.made - .seconds(90) }),
                .future: .request(reasons[.inFuture], request { $0.made = $0.made + .seconds(90) }),
                .malformed: .request(reasons[.refused]) { _ in ["recaptchaEnterpriseToken": "no token"] },
                .downgraded: .impossible("a token has no algorithm and no levels"),
                Adversary("ended", "a token that Google ended gets no token"): .request(
                    reasons[.expired], request { $0.made = $0.made - .seconds(400) }),
                Adversary("duplicate", "a token that was assessed before gets no token"): .request(
                    reasons[.duplicate], request(invalid: "DUPE")),
                Adversary("browser", "a browser that could not be looked at gets no token"): .request(
                    reasons[.browser], request(invalid: "BROWSER_ERROR")),
                Adversary("worst-score", "a score of 0, which Google leaves out, gets no token"): .request(
                    reasons[.score], request { $0.score = 0 }),
                Adversary("other-action", "a token for another action gets no token"): .request(
                    reasons[.action], request { $0.action = "login" }),
                Adversary("android", "a token of an app that the policy does not have gets no token"): .request(
                    reasons[.app], request { ($0.hostname, $0.androidPackage) = (nil, "com.example.app") }),
                Adversary("ios", "a token of an app of Apple's systems gets no token either"): .request(
                    reasons[.app], request { ($0.hostname, $0.bundleID) = (nil, "com.example.app") }),
                Adversary("nowhere", "a token of neither a page nor an app gets no token"): .request(
                    reasons[.host], request { $0.hostname = nil }),
            ],
            variants: ["a page with a risk": request { $0.risks = ["AUTOMATION", "TOO_MUCH_TRAFFIC"] }],
            request: request())
    }

    private static func host(_ app: TestApp) -> String { "app\(app.rawValue).example.com" }
}
#endif
