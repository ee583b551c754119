#if Simulator
internal import AssayAndroid
internal import AssayApple
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools
internal import AssayTesting
internal import AssayWeb

/// What tests of policies say of a page and its user.
private enum PageProperties {
    static let host = EvidenceProperty(
        WebTokenFacts.hostname, "The host of the page; that of the first origin when absent.")
    static let action = EvidenceProperty(WebTokenFacts.action, "The action; `fire_app_check` when absent.")
    static let score = EvidenceProperty(
        WebTokenFacts.score, "The score in hundredths, as the service gives it; that of a person when absent.")
    static let risks = EvidenceProperty(
        WebTokenFacts.risks, "What the service says of the risk, with spaces between; nothing when absent.")
    static let app = EvidenceProperty(
        WebTokenFacts.app, "The package or bundle identifier of an app; that of the policies when absent.")
    static let change = EvidenceChange(
        "token", ["replay", "unknown", "expired"],
        "The token: one that was used before, one that the service does not know, or one that is too old.")

    /// - Parameter isInverted: whether a high score is bad.
    static func page(_ order: EvidenceOrder, isInverted: Bool = false) -> SimulatedPage {
        var page = SimulatedPage(hostname: nil, made: order.now)
        if order.changes("token", "expired") { page.made = order.now - .seconds(900) }
        let origins = order.app.platform(WebIdentity.self)?.origins ?? []
        page.hostname = order.text("web_host") ?? origins.first?.host
        page.action = order.text("web_action") ?? page.action
        if let score = order.integer("web_score") {
            let score = Double(min(max(score, 0), 100)) / 100
            page.score = isInverted ? 1 - score : score
        }
        page.risks = order.text("web_risks").map { $0.split(onASCII: " ").map(String.init) } ?? []
        return page
    }

    static func body(
        _ order: EvidenceOrder, _ calls: EvidenceCalls, _ field: String, _ token: String
    ) async throws -> JSON {
        let body: JSON = .object([
            JSONMember(field, .string(order.changes("token", "unknown") ? "a token that nobody knows" : token))
        ])
        if order.changes("token", "replay") { _ = try await calls.call(order.method, body) }
        return body
    }
}

/// Pages whose tokens a simulated Turnstile, hCaptcha or reCAPTCHA v3 knows, for tests of policies.
struct PageSimulator: EvidenceSimulator {
    let provider: String
    let methods: [String]
    let properties: [EvidenceProperty]
    let changes = [PageProperties.change]
    private let kind: SimulatedSiteVerification.Service
    private let field: String

    init(_ kind: SimulatedSiteVerification.Service, _ provider: String, _ method: String, _ field: String) {
        self.kind = kind
        self.provider = provider
        self.field = field
        methods = [method]
        properties =
            switch kind {
            case .turnstile: [PageProperties.host, PageProperties.action]
            case .hcaptcha: [PageProperties.host, PageProperties.score, PageProperties.risks]
            case .recaptchaV3: [PageProperties.host, PageProperties.action, PageProperties.score]
            }
    }

    func begin(_ order: EvidenceOrder) -> EvidenceSession {
        let service = SimulatedSiteVerification(kind, clock: ManualClock(order.now).hostClock)
        let secret = Array(service.secret.utf8)
        return EvidenceSession(
            overlay: kind == .hcaptcha ? ["base_url": nil, "site_key": nil] : ["base_url": nil],
            secrets: SecretSource { _ in secret }, start: order.now,
            upstream: { service.answer($0).response }
        ) { [kind, field] calls in
            let token = service.token(PageProperties.page(order, isInverted: kind == .hcaptcha))
            return try await PageProperties.body(order, calls, field, token)
        }
    }
}

/// Pages and apps whose tokens a simulated reCAPTCHA Enterprise knows, for tests of policies.
struct AssessmentSimulator: EvidenceSimulator {
    let provider = "recaptcha_enterprise"
    let methods = ["exchangeRecaptchaEnterpriseToken"]
    let properties = [
        PageProperties.host, PageProperties.action, PageProperties.score, PageProperties.risks, PageProperties.app,
    ]
    let changes = [PageProperties.change]

    func begin(_ order: EvidenceOrder) throws -> EvidenceSession {
        let service = try SimulatedAssessments(clock: ManualClock(order.now).hostClock)
        let key = Array(service.apiKey.utf8)
        return EvidenceSession(
            overlay: [
                "api_key": "env:KEY", "service_account": nil, "site_key": .string(service.siteKey),
                "cloud_project": .string(service.project), "base_url": nil, "token_url": nil,
            ], secrets: SecretSource { _ in key }, start: order.now,
            upstream: { service.answer($0).response }
        ) { calls in
            var page = PageProperties.page(order)
            if page.hostname.isNil {
                page.androidPackage = order.app.platform(AndroidIdentity.self).map {
                    order.text("web_app") ?? $0.package
                }
                page.bundleID = order.app.platform(AppleIdentity.self).map { order.text("web_app") ?? $0.bundleID }
            }
            return try await PageProperties.body(order, calls, "recaptchaEnterpriseToken", service.token(page))
        }
    }
}
#endif
