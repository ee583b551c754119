import AssayCore
import AssayCrypto
import AssayEngine
import AssayHCaptcha
import AssayKit
import AssayPolicy
import AssayRecaptchaEnterprise
import AssayRecaptchaV3
import AssayTesting
import AssayTurnstile
import AssayWeb
import Testing

/// The providers for pages, with what differs between them.
enum PageService: String, CaseIterable, Sendable {
    case turnstile
    case hcaptcha
    case recaptchaV3 = "recaptcha_v3"
    case enterprise = "recaptcha_enterprise"

    var plugin: Plugin {
        switch self {
        case .turnstile: .provider(TurnstileProvider.self)
        case .hcaptcha: .provider(HCaptchaProvider.self)
        case .recaptchaV3: .provider(RecaptchaV3Provider.self)
        case .enterprise: .provider(RecaptchaEnterpriseProvider.self)
        }
    }

    var reasons: WebTokenReasons {
        switch self {
        case .turnstile: TurnstileProvider.reasons
        case .hcaptcha: HCaptchaProvider.reasons
        case .recaptchaV3: RecaptchaV3Provider.reasons
        case .enterprise: RecaptchaEnterpriseProvider.reasons
        }
    }

    var method: String {
        switch self {
        case .turnstile: "exchangeTurnstileToken"
        case .hcaptcha: "exchangeHcaptchaToken"
        case .recaptchaV3: "exchangeRecaptchaV3Token"
        case .enterprise: "exchangeRecaptchaEnterpriseToken"
        }
    }

    var field: String {
        switch self {
        case .turnstile: "turnstileToken"
        case .hcaptcha: "hcaptchaToken"
        case .recaptchaV3: "recaptchaV3Token"
        case .enterprise: "recaptchaEnterpriseToken"
        }
    }

    var server: String {
        switch self {
        case .turnstile: "challenges.cloudflare.com"
        case .hcaptcha: "api.hcaptcha.com"
        case .recaptchaV3: "www.google.com"
        case .enterprise: "recaptchaenterprise.googleapis.com"
        }
    }

    fileprivate var site: SimulatedSiteVerification.Service? {
        switch self {
        case .turnstile: .turnstile
        case .hcaptcha: .hcaptcha
        case .recaptchaV3: .recaptchaV3
        case .enterprise: nil
        }
    }

    /// Those that answer `siteverify`.
    static let sites: [PageService] = [.turnstile, .hcaptcha, .recaptchaV3]
}

/// A server that accepts tokens of pages, and the simulated service that makes them.
struct WebScene {
    static let app = "projects/1234567890/apps/1:1234567890:web:321abc456def7890"
    static let administrator = "administrator-token-0123456789"

    let service: PageService
    let site: SimulatedSiteVerification?
    let assessments: SimulatedAssessments
    let engine: TestEngine
    /// The clock of the simulated service; the engine has its own.
    let siteClock: ManualClock

    /// - Parameters:
    ///   - section: further keys of the section.
    ///   - sections: the sections of platforms.
    ///   - isForgetful: whether the service verifies a token again and again.
    init(
        _ service: PageService, _ section: String = "", access: String = "api_key: env:KEY",
        sections: String = "web: {origins: [\"https://example.com\", \"https://shop.example.com:8443\"]}",
        platform: String = "web", isForgetful: Bool = false, secret: String? = nil, http: (any OutboundHTTP)? = nil
    ) throws {
        self.service = service
        let clock = ManualClock()
        siteClock = clock
        let site = service.site.map {
            SimulatedSiteVerification($0, clock: clock.hostClock, remembersTokens: !isForgetful)
        }
        let assessments = try SimulatedAssessments(clock: clock.hostClock)
        (self.site, self.assessments) = (site, assessments)
        let own =
            switch service {
            case .turnstile, .hcaptcha: "secret: env:SECRET"
            case .recaptchaV3: "site_secret: env:SECRET"
            case .enterprise: "site_key: \(assessments.siteKey)\n\(access)"
            }
        let secrets = [
            "SECRET": secret ?? site?.secret ?? "", "KEY": secret ?? assessments.apiKey,
            "ACCOUNT": assessments.accountFile,
        ]
        let lines = (own + "\n" + section).split(separator: "\n").map { "            \($0)" }
        let policy = """
            tokens: {algorithm: ES256}
            callers:
              administrator: {sha256: \(Hex.encode(SHA256.hash(Array(Self.administrator.utf8)))), permissions: [admin]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:\(platform):321abc456def7890
            \(sections.split(separator: "\n").map { "        \($0)" }.joined(separator: "\n"))
                    providers:
                      \(service.rawValue):
            \(lines.joined(separator: "\n"))
            """
        engine = try TestEngine(
            [service.plugin], policy: policy,
            secrets: SecretSource { reference in
                secrets.first { reference.place == .environment($0.key) }.map { Array($0.value.utf8) }
            }, http: http ?? site ?? assessments)
    }

    var app: String { Self.app }

    func advance(by duration: Duration) {
        engine.clock.advance(by: duration)
        siteClock.advance(by: duration)
    }

    var requests: [OutboundRequest] { site?.requests ?? assessments.requests }

    func script(_ answers: [ScriptedAnswer]) { site?.script(answers) ?? assessments.script(answers) }

    func token(_ change: (inout SimulatedPage) -> Void = { _ in }) -> String {
        var page = SimulatedPage(made: engine.clock.now)
        change(&page)
        return site?.token(page) ?? assessments.token(page)
    }

    func send(_ token: String, from peer: String = "192.0.2.1", app: String = Self.app) async -> Reply {
        await engine.call(service.method, app, [service.field: .string(token)], peer: peer)
    }

    func exchange(_ change: (inout SimulatedPage) -> Void = { _ in }) async -> Reply {
        await send(token(change))
    }

    func detail(_ reply: Reply) -> String { engine.record(of: reply)?.detail ?? "" }

    func facts(_ reply: Reply) -> [Fact] { engine.record(of: reply)?.facts ?? [] }

    /// Sends a token; whatever the call waits for comes at once, except the end of its time.
    ///
    /// The clocks move to what sleeps after the service was asked, and to nothing else: how fast the machine is does not matter.
    func sendWithoutWaiting(_ token: String) async -> Reply {
        let (end, asked) = (engine.clock.now + Engine.Options().timeLimit, requests.count)
        return await withTaskGroup(of: Reply?.self) { group in
            group.addTask { await send(token) }
            group.addTask {
                while !Task.isCancelled {
                    let wakes = [engine.clock.nextWake, siteClock.nextWake].compactMap(\.self).filter { $0 < end }
                    if requests.count > asked, let next = wakes.min() { advance(by: next - engine.clock.now) }
                    await Task.yield()
                }
                return nil
            }
            defer { group.cancelAll() }
            while let reply = await group.next() { if let reply { return reply } }
            preconditionFailure("no answer")
        }
    }

    /// What makes the engine not ready; nil for nothing.
    func problem() async -> String? {
        if case .degraded(let words) = await engine.engine.readiness { words } else { nil }
    }
}

extension Reply {
    var isAccepted: Bool { (try? result.get()) != nil }

    var failure: CallFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

extension ScriptedAnswer {
    static func json(_ status: Int, _ body: String) -> ScriptedAnswer {
        .respond(OutboundResponse(status: status, body: Array(body.utf8)))
    }

    static func codes(_ codes: String...) -> ScriptedAnswer { .respond(SimulatedSiteVerification.refusal(codes)) }

    static func invalid(_ reason: String) -> ScriptedAnswer { .respond(SimulatedAssessments.refusal(reason)) }

    static func google(_ code: Int, _ status: String) -> ScriptedAnswer {
        .respond(SimulatedPlayService.error(code, status))
    }
}
