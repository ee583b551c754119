public import AssayKit

/// What all policy files together say, checked as far as that is possible without knowing any plugin.
public struct PolicySet: Sendable {
    /// How tokens are signed.
    public let tokens: TokenPolicy
    /// The apps and OAuth clients of all projects.
    public let apps: [AppPolicy]
}

/// How tokens are signed: the section `tokens`, which stands in at most one file.
public struct TokenPolicy: Sendable, Hashable {
    /// The signature algorithms that clients of App Check can verify.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    public var algorithm: Algorithm
    /// The size of RSA keys: 2048 or 3072; of no meaning for ES256.
    public var rsaBits: Int

    public init(algorithm: Algorithm = .rs256, rsaBits: Int = 2048) {
        self.algorithm = algorithm
        self.rsaBits = rsaBits
    }
}

/// The policy of one app or OAuth client.
public struct AppPolicy: Sendable {
    public let identity: AppIdentity
    /// What stands before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// The other name that the resource goes by, with the project's ID in place of its number; nil when it has one name.
    public let alias: String?
    public let providers: [ProviderPolicy]
}

/// What a policy says of one provider for one app.
public struct ProviderPolicy: Sendable {
    /// The provider's name, which may or may not be that of a registered one.
    public let name: String
    /// The life of session tokens.
    public let tokenLife: Duration
    /// The provider's own section.
    public let section: PolicySection
}
