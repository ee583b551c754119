public import AssayCore

/// An issuer whose JWTs a policy trusts: the part of a section that names it and its keys.
///
///     issuer: https://login.example.com/
///     audiences: [https://assay.example.com]
///     jwks: https://login.example.com/.well-known/jwks.json      # or file:/etc/assay/jwks.json
///     subjects: [deployer@example.com]                            # any, when absent
///     claims: {email_verified_by: example}                        # texts that claims must be equal to
public struct TrustedIssuerConfiguration: Decodable, Sendable {
    /// The exact `iss`.
    public let issuer: String
    /// Of these, `aud` must hold one.
    public let audiences: [String]
    /// Where the keys are: an `https` URL that is fetched when needed, or `file:` or `env:` for a document that is read
    /// with the policy.
    public let jwks: String
    /// The subjects that are trusted; all of the issuer's when absent.
    public let subjects: [String]?
    /// The required values of further claims, each by its path with dots.
    public let claims: [ExactText: String]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case issuer, audiences, jwks, subjects, claims
    }
}

extension TrustedIssuerConfiguration: DescribedConfiguration {
    /// What the keys of the section mean, for the schema and the documentation.
    public static let keys: [ExactText: PolicyKey] = [
        "issuer": PolicyKey(
            "The issuer, exactly as its tokens name it in `iss`.", .length(1...2048),
            examples: ["https://login.example.com/"]),
        "audiences": PolicyKey("A token's `aud` must contain one of these.", .notEmpty),
        "jwks": PolicyKey(
            "Where its keys are: an https URL, or `file:PATH` or `env:NAME` for a document that is read with the policy.",
            examples: ["https://login.example.com/.well-known/jwks.json"]),
        "subjects": PolicyKey("The subjects that are trusted; all of the issuer's when absent.", .notEmpty),
        "claims": "The required values of further claims, each by its path with dots.",
    ]
}
