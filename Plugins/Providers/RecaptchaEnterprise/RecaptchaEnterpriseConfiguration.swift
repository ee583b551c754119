public import AssayCore
public import AssayGoogle
public import AssayWeb

/// The section `recaptcha_enterprise` of a policy.
public struct RecaptchaEnterpriseConfiguration: Decodable, Sendable, DescribedConfiguration {
    /// The score-based key of the page or the app, which is no secret.
    public let siteKey: String
    /// What may ask Google, for which project.
    public let access: GoogleAccessSettings
    /// The keys that providers with scores have.
    public let settings: WebScoredSettings

    enum CodingKeys: String, CodingKey {
        case siteKey = "site_key"
    }

    /// Decodes the section.
    public init(from decoder: any Decoder) throws {
        siteKey = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .siteKey)
        access = try GoogleAccessSettings(from: decoder)
        settings = try WebScoredSettings(from: decoder)
    }

    /// The keys of the section, with their descriptions.
    public static var keys: [ExactText: PolicyKey] {
        let key = PolicyKey(
            "The score-based key of the page or the app, which is no secret.", .pattern("^[A-Za-z0-9_-]{1,128}$"),
            examples: ["6LcExampleExampleExampleExampleExample"]
        ).enforced("expected letters, digits, `-` and `_`, at most 128") { text in
            (1...128).contains(text.utf8.count)
                && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
        }
        return ["site_key": key].adding(GoogleAccessSettings.keys).adding(WebScoredSettings.keys)
    }

    /// Groups of keys of which exactly one must be present.
    public static let alternatives = GoogleAccessSettings.alternatives
}
