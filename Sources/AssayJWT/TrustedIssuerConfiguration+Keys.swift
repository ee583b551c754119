public import AssayKit

extension TrustedIssuerConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "issuer": PolicyKey(
            "The issuer, exactly as its tokens name it in `iss`.", .length(1...2048),
            examples: ["https://login.example.com/"]),
        "audiences": PolicyKey("Of these, a token's `aud` must hold one.", .notEmpty),
        "jwks": PolicyKey(
            "Where its keys are: an https URL, or `file:PATH` or `env:NAME` for a document that is read with the policy.",
            examples: ["https://login.example.com/.well-known/jwks.json"]),
        "subjects": PolicyKey("The subjects that are trusted; all of the issuer's when absent.", .notEmpty),
        "claims": "What further claims must say, each by its path with dots.",
    ]
}
