public import AssayCore
internal import AssayVerifier

/// Why the custom provider refuses.
public enum CustomTokenReasons {
    /// The custom token is not a JWT.
    public static let malformed = Reason(
        "custom_token_malformed", "The custom token is not a JWT.",
        advice: """
            Check that the client sends the custom token itself as it came from `createToken`, and not an ID token \
            or a JSON object around it.
            """)
    /// The custom token's signature algorithm does not match its key.
    public static let algorithm = Reason(
        "custom_token_algorithm", "The custom token's signature algorithm does not match its key.",
        advice: """
            Sign the custom token with the algorithm of the key that `service_accounts` or `issuers` has: RS256 for \
            service accounts.
            """)
    /// The custom token is signed by a key that its issuer does not publish.
    public static let keyUnknown = Reason(
        "custom_token_key_unknown", "The custom token is signed by a key that its issuer does not publish.",
        advice: """
            For a service account, put its present certificate, public key or key file into the policy. For an \
            issuer, check that its JWKS holds the token's `kid`, and that it can be fetched.
            """)
    /// The custom token's signature is invalid.
    public static let signature = Reason(
        "custom_token_signature", "The custom token's signature is invalid.",
        advice: """
            The key in the policy is not the one that signed: put the service account's present key into the policy. \
            A single case is an altered token.
            """)
    /// The policy does not trust the custom token's issuer for this app.
    public static let issuer = Reason(
        "custom_token_issuer", "The policy does not trust the custom token's issuer for this app.",
        advice: """
            Add the service account or the issuer to the section `custom` of the app, spelled as in the token's \
            `iss`. Service accounts need `iss` and `sub` of the same address.
            """)
    /// The custom token was made for another service.
    public static let audience = Reason(
        "custom_token_audience", "The custom token was made for another service.",
        advice: """
            For service accounts, `aud` is App Check's exchange service: use `createToken` of the Admin SDK, and not \
            the call for custom tokens of Firebase Authentication. For issuers, compare `aud` with `audiences`.
            """)
    /// The custom token has expired.
    public static let expired = Reason(
        "custom_token_expired", "The custom token has expired.",
        advice: """
            Make the custom token right before it is exchanged, and correct the clock of the backend that makes it.
            """)
    /// The custom token was made in the future.
    public static let notYetValid = Reason(
        "custom_token_not_yet_valid", "The custom token was made in the future.",
        advice: "Correct the clock of the backend that makes custom tokens, or the clock of this server.")
    /// The lifetime of the custom token is longer than allowed.
    public static let lifeTooLong = Reason(
        "custom_token_life_too_long", "The lifetime of the custom token is longer than allowed.",
        advice: """
            Make custom tokens with a lifetime within the limit: `exp` at most five minutes after `iat` for a service \
            account, as the Admin SDK does, and at most an hour for an issuer.
            """)
    /// The custom token is for another app.
    public static let app = Reason(
        "custom_token_for_another_app", "The custom token is for another app.",
        advice: """
            Make the custom token with the app ID that the client exchanges it for; compare the claim `app_id` (or \
            the policy's `app_claim`) with the app in the request.
            """)
    /// A claim of the custom token is missing, or its value is not what the policy requires.
    public static let claim = Reason(
        "custom_token_claim", "A claim of the custom token is missing, or its value is not what the policy requires.",
        advice: """
            The record's `detail` names the claim. Compare `subjects` and `claims` of the issuer, and the token's \
            `ttl`, which must be from 30 minutes to 7 days.
            """)

    /// All of them.
    public static let all = [
        malformed, algorithm, keyUnknown, signature, issuer, audience, expired, notYetValid, lifeTooLong, app, claim,
    ]

    static func reason(_ fault: JWTFault) -> Reason {
        switch fault {
        case .malformed, .type: malformed
        case .algorithm: algorithm
        case .keyUnknown: keyUnknown
        case .signature: signature
        case .issuer: issuer
        case .audience: audience
        case .expired: expired
        case .notYetValid: notYetValid
        case .lifeTooLong: lifeTooLong
        case .claim: claim
        }
    }
}
