#if Simulator
internal import AssayCore
internal import AssayTesting

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The services that judge the demonstration's pages, within the process: nobody else knows their secrets.
final class DemoPages: OutboundHTTP {
    static let host = "shop.example.com"

    let turnstile = SimulatedSiteVerification(.turnstile, clock: .system)
    let hcaptcha = SimulatedSiteVerification(.hcaptcha, clock: .system)
    let recaptcha = SimulatedSiteVerification(.recaptchaV3, clock: .system)
    let assessments: SimulatedAssessments
    private let folder: String

    /// Writes the secrets into files.
    init(folder: String) throws {
        assessments = try SimulatedAssessments(clock: .system)
        self.folder = folder
        let secrets = [
            ("turnstile", turnstile.secret), ("hcaptcha", hcaptcha.secret), ("recaptcha", recaptcha.secret),
            ("assessments", assessments.apiKey),
        ]
        for (name, secret) in secrets {
            guard
                FileManager.default.createFile(
                    atPath: "\(folder)/\(name)", contents: Data(secret.utf8), attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    /// The app's sections in the policy, in YAML on one line each.
    var policy: [String] {
        [
            "web: {origins: [\"https://\(Self.host)\"]}", "providers:",
            "  turnstile: {secret: \"file:\(folder)/turnstile\"}", "  hcaptcha: {secret: \"file:\(folder)/hcaptcha\"}",
            "  recaptcha_v3: {site_secret: \"file:\(folder)/recaptcha\"}",
            "  recaptcha_enterprise: {site_key: \(assessments.siteKey), api_key: \"file:\(folder)/assessments\"}",
        ]
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        switch ExactText(request.url.host) {
        case "challenges.cloudflare.com": try await turnstile.send(request)
        case "api.hcaptcha.com": try await hcaptcha.send(request)
        case "www.google.com": try await recaptcha.send(request)
        case "recaptchaenterprise.googleapis.com": try await assessments.send(request)
        default: throw OutboundFailure(.cannotConnect, "the demonstration calls no other server")
        }
    }
}
#endif
