internal import AssayCrypto
internal import AssayKit

/// One entry of the section `callers` of a policy.
struct CallerConfiguration: Decodable, Sendable {
    /// The SHA-256 of the bearer token.
    let sha256: SecretDigest?
    /// Where the bearer token is to be found, in place of its hash.
    let token: SecretReference?
    /// Whether the policy is good without the token: then there is no such caller. False when absent.
    let optional: Bool?
    /// What the caller may do.
    let permissions: [String]
    /// The projects, by number or ID, that it may do that in; all of them when absent.
    let projects: [String]?

    /// Fewer characters than that can be guessed.
    private static let shortestToken = 16

    /// The hash that the caller is known by; nil when it refers to an optional token that is not there.
    func hash(secrets: SecretSource) throws(ConfigurationError) -> [UInt8]? {
        switch (sha256, token) {
        case (let digest?, nil):
            return digest.bytes
        case (nil, let reference?):
            let secret: [UInt8]?
            do throws(SecretError) {
                secret = try secrets.resolve(reference)
            } catch {
                throw ConfigurationError(at: ["token"], error.message)
            }
            guard let secret else {
                if optional == true { return nil }
                throw ConfigurationError(
                    at: ["token"], "\(reference) is not set; `optional: true` does without the caller")
            }
            guard let text = String(validating: secret, as: UTF8.self), BearerToken(text) != nil,
                text.utf8.count >= CallerConfiguration.shortestToken
            else {
                throw ConfigurationError(
                    at: ["token"],
                    "\(reference) holds no bearer token: 16 characters or more, letters, digits and -._~+/=")
            }
            return SHA256.hash(secret)
        default:
            throw ConfigurationError("expected either `sha256` or `token`, and not both")
        }
    }
}

extension CallerConfiguration: DescribedConfiguration {
    static let keys: [String: PolicyKey] = [
        "sha256": "The SHA-256 of the bearer token that the caller shows, in hexadecimal.",
        "token": "Where the bearer token is to be found, in place of its hash: `env:NAME` or `file:PATH`.",
        "optional": PolicyKey(
            "Whether the policy is good without the token: then there is no such caller.", standard: false),
        "permissions": "What the caller may do; `admin` is everything.",
        "projects": PolicyKey(
            "The projects, by number or ID, that it may do that in; all of them when absent.",
            examples: [["example-project"]]),
    ]

    static let alternatives = [["sha256", "token"]]
}
