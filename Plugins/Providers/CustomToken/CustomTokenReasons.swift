internal import AssayJWT
public import AssayKit

/// Why the custom provider refuses.
public enum CustomTokenReasons {
    public static let malformed = Reason("custom_token_malformed", "The custom token is not a JWT.")
    public static let algorithm = Reason(
        "custom_token_algorithm", "The custom token names a signature algorithm that its key is not for.")
    public static let keyUnknown = Reason(
        "custom_token_key_unknown", "The custom token is signed by a key that its issuer does not publish.")
    public static let signature = Reason("custom_token_signature", "The custom token's signature is wrong.")
    public static let issuer = Reason(
        "custom_token_issuer", "The custom token is from somebody whom the policy does not trust for this app.")
    public static let audience = Reason("custom_token_audience", "The custom token was made for another service.")
    public static let expired = Reason("custom_token_expired", "The custom token has expired.")
    public static let notYetValid = Reason("custom_token_not_yet_valid", "The custom token was made in the future.")
    public static let lifeTooLong = Reason(
        "custom_token_life_too_long", "The custom token lives longer than such a token may.")
    public static let app = Reason("custom_token_for_another_app", "The custom token is for another app.")
    public static let claim = Reason(
        "custom_token_claim", "A claim of the custom token is missing, or is not what the policy demands.")

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
