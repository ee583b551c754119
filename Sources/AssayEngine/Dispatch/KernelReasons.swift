public import AssayKit

/// Why the kernel itself refuses, before a provider sees the evidence or after a token was issued.
public enum KernelReasons {
    public static let challengeMalformed = Reason(
        "challenge_malformed", "The challenge has not the form of one of this service's.")
    public static let challengeForged = Reason(
        "challenge_forged", "The challenge was not made by this service, or was altered.")
    public static let challengeForAnotherApp = Reason(
        "challenge_for_another_app", "The challenge was made for another app or another provider.")
    public static let challengeExpired = Reason("challenge_expired", "The challenge is older than its life.")
    public static let challengeNotYetValid = Reason(
        "challenge_not_yet_valid", "The challenge was made in the future: a clock was set back.")
    public static let challengeAlreadyUsed = Reason("challenge_already_used", "The challenge was used before.")

    public static let tokenPlaceholder = Reason(
        "token_placeholder", "The token is what App Check clients send when they could not obtain one.")
    public static let tokenMalformed = Reason("token_malformed", "The token is not a JWT of the App Check form.")
    public static let tokenAlgorithm = Reason(
        "token_algorithm", "The token names a signature algorithm that its key is not for.")
    public static let tokenKeyUnknown = Reason(
        "token_key_unknown", "The token is signed by a key that is not published.")
    public static let tokenSignature = Reason("token_signature", "The token's signature is wrong.")
    public static let tokenExpired = Reason("token_expired", "The token has expired.")
    public static let tokenNotYetValid = Reason("token_not_yet_valid", "The token was issued in the future.")
    public static let tokenIssuer = Reason("token_issuer", "The token was issued by somebody else.")
    public static let tokenAudience = Reason("token_audience", "The token is for another project.")
    public static let tokenAppUnknown = Reason(
        "token_app_unknown", "The token speaks for an app that the project's policy does not have.")
    public static let tokenProviderUnsupported = Reason(
        "token_provider_unsupported", "The token names no provider, or one that this program does not have.")
    public static let tokenProviderNotAllowed = Reason(
        "token_provider_not_allowed", "The token is of a provider that its app's policy does not name.")
    public static let tokenForDevelopment = Reason(
        "token_for_development", "The token is of a provider for development, which the policy does not accept here.")
    public static let tokenMissing = Reason("token_missing", "There is no token.")
    public static let tokenReused = Reason("token_reused", "The token was used before.")

    public static let rateLimited = Reason(
        "rate_limited", "More calls came for the app than its policy lets through.")

    /// Those about challenges.
    public static let challenges = [
        challengeMalformed, challengeForged, challengeForAnotherApp, challengeExpired, challengeNotYetValid,
        challengeAlreadyUsed,
    ]

    /// All of them.
    public static let all =
        challenges + [
            tokenPlaceholder, tokenMalformed, tokenAlgorithm, tokenKeyUnknown, tokenSignature,
            tokenExpired, tokenNotYetValid, tokenIssuer, tokenAudience, tokenAppUnknown, tokenProviderUnsupported,
            tokenProviderNotAllowed, tokenForDevelopment, tokenMissing, tokenReused, rateLimited,
        ]
}
