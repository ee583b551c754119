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
    public static let challengeAlreadyUsed = Reason(
        "challenge_already_used", "The challenge was used before, or was made before the state of this service began.")

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
    public static let tokenReused = TokenReasons.reused
    public static let tokenRepeated = TokenReasons.repeated
    public static let tokenInURL = TokenReasons.inURL
    public static let tokenNotLimitedUse = Reason(
        "token_not_limited_use", "The token is a session token, and the policy demands one for limited use.")
    public static let tokenTooOld = TokenReasons.tooOld
    public static let tokenAppNotAllowed = Reason(
        "token_app_not_allowed", "The token is of an app that the policy does not let use this consumer.")
    public static let tokenOfOAuthClient = Reason(
        "token_of_oauth_client",
        "The token is of an OAuth client, and the policy does not say that those are taken here.")
    public static let consumerUnknown = Reason(
        "consumer_unknown", "The request names no consumer that a policy has, or none where there are several.")
    public static let actorMalformed = Reason("actor_malformed", "The user's token is not a JWT.")
    public static let actorIssuerUnknown = Reason(
        "actor_issuer_unknown", "The user's token is of an issuer that the policy does not trust here.")
    public static let actorExpired = Reason("actor_expired", "The user's token has expired.")
    public static let actorInvalid = Reason(
        "actor_invalid", "The user's token has a wrong signature, audience, time or claim.")

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
            tokenProviderNotAllowed, tokenForDevelopment, tokenMissing, tokenReused, tokenRepeated,
            tokenInURL, tokenNotLimitedUse, tokenTooOld, tokenAppNotAllowed, tokenOfOAuthClient, consumerUnknown,
            actorMalformed, actorIssuerUnknown, actorExpired, actorInvalid, rateLimited,
        ]
}
