internal import AssayCore
internal import AssayGoogle
internal import AssayKit
internal import AssayWeb

/// Google's side (reCAPTCHA Enterprise, `projects.assessments.create`).
struct RecaptchaEnterprise: WebTokenUpstream {
    static let server = "https://recaptchaenterprise.googleapis.com"
    static let scope = "https://www.googleapis.com/auth/cloud-platform"
    /// The most calls for one token: each may need a new access token.
    static let callsPerToken = UpstreamInquiry.callsPerQuestion + 2 * GoogleAccessTokens.callsPerToken

    let url: EndpointURL
    let access: GoogleAccess
    private let siteKey: String
    private let actions: [String]

    /// - Throws: the error at its key.
    init(_ configuration: RecaptchaEnterpriseConfiguration, app: AppIdentity, host: PluginHost)
        throws(ConfigurationError)
    {
        siteKey = configuration.siteKey
        let project = configuration.access.cloudProject ?? app.project.id
        url = try configuration.settings.common.url(Self.server, "/v1/projects/\(project)/assessments")
        actions = configuration.settings.action.accepted
        access = try GoogleAccess(configuration.access, scope: Self.scope, host: host)
    }

    func credential(_ context: ProviderContext, insteadOf refused: String?) async throws -> String {
        try await access.credential(context, insteadOf: refused)
    }

    func request(_ question: WebTokenQuestion, credential: String) -> OutboundRequest {
        var event = [JSONMember("token", .string(question.token)), JSONMember("siteKey", .string(siteKey))]
        if let action = actions.first, actions.count == 1, !action.isEmpty {
            event.append(JSONMember("expectedAction", .string(action)))
        }
        if let address = question.address { event.append(JSONMember("userIpAddress", .string(address))) }
        return .json(url, ["event": .object(event)], headers: [access.field(credential)])
    }

    func read(_ response: OutboundResponse) throws -> WebTokenVerdict {
        // What is wrong with a token is said with 200.
        guard response.status == 200 else { throw GoogleAccess.failure(response) }
        guard let token = response.json?["tokenProperties"], token.members != nil else {
            throw UpstreamFailure(.malformed, "tokenProperties")
        }
        let reason = try SiteVerification.text(token, "invalidReason") ?? "INVALID_REASON_UNSPECIFIED"
        guard token["valid"]?.bool ?? false else { return try refusal(reason, token) }
        guard reason.isExactly("INVALID_REASON_UNSPECIFIED"),
            let made = token["createTime"]?.string.flatMap({ Instant(rfc3339: $0) })
        else { throw UpstreamFailure(.malformed, "createTime or invalidReason") }
        var answer = WebTokenAnswer(made: made)
        answer.hostname = try SiteVerification.text(token, "hostname")
        answer.action = try SiteVerification.text(token, "action")
        answer.androidPackage = try SiteVerification.text(token, "androidPackageName")
        answer.bundleID = try SiteVerification.text(token, "iosBundleId")
        let risk = response.json?["riskAnalysis"] ?? [:]
        // Google leaves out numbers that are 0.
        answer.score = try SiteVerification.score(risk) ?? 0
        answer.risks = try SiteVerification.texts(risk, "reasons")
        return .genuine(answer)
    }

    private func refusal(_ reason: String, _ token: JSON) throws -> WebTokenVerdict {
        if reason.isExactly("KEY_MISMATCH") { throw UpstreamFailure(.unauthorized, reason) }
        func quoted(_ name: String) -> String { token[name]?.string.map { "'\($0)'" } ?? "absent" }
        return switch ExactText(reason) {
        case "EXPIRED": .refused(.expired, detail: reason)
        case "DUPE": .refused(.duplicate, detail: reason)
        case "BROWSER_ERROR": .refused(.browser, detail: reason)
        case "DOMAIN_MISMATCH":
            .refused(.host, detail: "\(reason): \(quoted("hostname")), expected a host of the site key")
        case "UNEXPECTED_ACTION":
            .refused(
                .action, detail: "\(reason): \(quoted("action")), expected '\(actions.joined(separator: "' or '"))'")
        // `MALFORMED`, `MISSING`, and what is newer than this version.
        default: .refused(.refused, detail: reason)
        }
    }
}
