public import AssayCore
internal import AssayCrypto

/// The section `debug` of a policy.
public struct DebugConfiguration: DescribedConfiguration, Sendable {
    /// The tokens that are accepted; none when absent.
    public let tokens: [Located<DebugToken>]?
    /// Whether administrators may register others; they may not when absent.
    public let managed: ManagedTokenPolicy?

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "tokens": "The debug tokens that are accepted; `assay debug-token` makes one.",
        "managed": """
        Lets administrators register further debug tokens through the API (`debugTokens`), which are kept in the state \
        store. Without it, only those of this section are accepted.
        """,
    ]
}

/// The policy of the debug tokens that administrators register.
public struct ManagedTokenPolicy: DescribedConfiguration, Sendable {
    /// How many of them an app may have that have not expired; 20 when absent, as in Google's service.
    public let limit: Int?

    /// All of them are one value in the state store.
    static let limits = 1...500
    static let standardLimit = 20

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "limit": PolicyKey(
            "The most registered tokens of an app; expired ones do not count.", .range(limits),
            standard: .integer(Int64(standardLimit)))
    ]
}

/// One debug token of a policy: its hash, or a reference to its text.
public struct DebugToken: DescribedConfiguration, Sendable {
    /// The name of the token in logs.
    public let name: String
    /// The SHA-256 of the token's text in lower case.
    public let sha256: SecretDigest?
    /// Where the token's text is, instead of its hash.
    public let token: SecretReference?
    /// Whether the policy is valid when the token's text is missing: then the token is left out.
    ///
    /// False when absent.
    public let optional: Bool?
    /// From when on the token is refused; never when absent.
    public let expires: Instant?

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "name": PolicyKey(
            "The name of the token in logs.", .length(1...100), examples: ["a developer's device"]),
        "sha256": "The SHA-256 of the token's text in lower case, in hexadecimal; `assay debug-token` prints it.",
        "token": "The location of the token's text, instead of its hash: `env:NAME` or `file:PATH`.",
        "optional": PolicyKey(
            "Whether the policy is valid when the token's text is missing: then the token is left out.", standard: false
        ),
        "expires": "The time from which the token is refused (RFC 3339); never when absent.",
    ]

    /// Groups of keys of which exactly one must be present.
    public static let alternatives = [["sha256", "token"]]

    /// How many characters a token has at least: fewer can be guessed.
    static let shortest = 16

    /// The hash that identifies a token.
    ///
    /// App Check's tokens are UUIDs, which SDKs write in either case; letters outside ASCII are not changed, so that a
    /// hash does not depend on a version of Unicode.
    public static func hash(of text: String) -> [UInt8] {
        SHA256.hash(text.utf8.map { $0.lowercasedASCII })
    }

    /// The hash in the policy; nil when it refers to an optional text that is not set.
    func hash(
        at path: [ConfigurationError.Component], secrets: SecretSource
    ) throws(ConfigurationError) -> [UInt8]? {
        guard !name.isEmpty, name.utf8.count <= 100 else {
            throw ConfigurationError(at: path + ["name"], "expected a name of 1 to 100 bytes")
        }
        switch (sha256, token) {
        case (let digest?, nil):
            return digest.bytes
        case (nil, let reference?):
            return try hash(of: reference, at: path + ["token"], secrets: secrets)
        default:
            throw ConfigurationError(at: path, "expected either `sha256` or `token`, and not both")
        }
    }

    private func hash(
        of reference: SecretReference, at path: [ConfigurationError.Component], secrets: SecretSource
    ) throws(ConfigurationError) -> [UInt8]? {
        let secret: [UInt8]?
        do throws(SecretError) {
            secret = try secrets.resolve(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        guard let secret else {
            if optional == true { return nil }
            throw ConfigurationError(at: path, "\(reference) is not set; `optional: true` does without it")
        }
        guard let text = String(validating: secret, as: UTF8.self), text.utf8.count >= DebugToken.shortest else {
            throw ConfigurationError(at: path, "\(reference) holds no debug token: 16 characters or more, best a UUID")
        }
        return DebugToken.hash(of: text)
    }
}
