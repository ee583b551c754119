public import AssayKit
internal import AssayVerifier

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

    public static let tokenPlaceholder = TokenReasons.placeholder
    public static let tokenMalformed = TokenReasons.malformed
    public static let tokenAlgorithm = TokenReasons.algorithm
    public static let tokenKeyUnknown = TokenReasons.keyUnknown
    public static let tokenSignature = TokenReasons.signature
    public static let tokenExpired = TokenReasons.expired
    public static let tokenNotYetValid = TokenReasons.notYetValid
    public static let tokenIssuer = TokenReasons.issuer
    public static let tokenAudience = TokenReasons.audience
    public static let tokenAppUnknown = TokenReasons.appUnknown
    public static let tokenProviderUnsupported = Reason(
        "token_provider_unsupported", "The token names no provider, or one that this program does not have.")
    public static let tokenProviderNotAllowed = TokenReasons.providerNotAllowed
    public static let tokenForDevelopment = TokenReasons.forDevelopment
    public static let tokenMissing = TokenReasons.missing
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
