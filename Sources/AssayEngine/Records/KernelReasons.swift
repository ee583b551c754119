public import AssayCore
internal import AssayVerifier

/// The reasons of the kernel itself: before a provider sees the evidence, or when a token is presented.
public enum KernelReasons {
    /// The challenge does not have the form of this service's.
    public static let challengeMalformed = Reason(
        "challenge_malformed", "The challenge does not have the form of this service's challenges.",
        advice: """
            Check that the client sends `challenge` back exactly as the server gave it, and to the server that gave \
            it. The SDKs of Firebase do.
            """)
    /// No key of this service authenticates the challenge.
    public static let challengeForged = Reason(
        "challenge_forged", "The challenge was not made by this service, or was altered.",
        advice: """
            Check that all servers of the deployment share one key folder: a challenge of a server with other keys \
            looks forged. If they do, an attacker sends invented challenges, and nothing needs to be done.
            """)
    /// The challenge was issued for another app or provider.
    public static let challengeForAnotherApp = Reason(
        "challenge_for_another_app", "The challenge was made for another app or another provider.",
        advice: """
            Check that the client asks for its challenge with the app ID and the method's provider that it later \
            names in the exchange.
            """)
    /// The challenge is older than five minutes.
    public static let challengeExpired = Reason(
        "challenge_expired", "The challenge is older than its lifetime.",
        advice: """
            Rare cases are slow networks; the client gets a new challenge and tries again. If all clients fail, \
            compare the clocks of the servers, and look for a queue or a cache between client and server.
            """)
    /// The challenge was issued in the future, by a clock that was ahead.
    public static let challengeNotYetValid = Reason(
        "challenge_not_yet_valid", "The challenge was made in the future: a clock was set back.",
        advice: """
            Compare the clocks of all servers with a time server (`chronyc tracking`, `timedatectl`), and correct \
            those that are wrong.
            """)
    /// The challenge was used, or is older than the state.
    public static let challengeAlreadyUsed = Reason(
        "challenge_already_used", "The challenge was used before, or was made before the state of this service began.",
        advice: """
            A few are clients that send a request twice; they get a new challenge. Many at once follow a replaced or \
            emptied state store: challenges from before its beginning are refused for as long as they could be \
            valid. Otherwise evidence is being replayed.
            """)

    /// The client could not get a token, and sent a placeholder instead.
    public static let tokenPlaceholder = TokenReasons.placeholder
    /// The token is not a JWT of the right form.
    public static let tokenMalformed = TokenReasons.malformed
    /// The token has another algorithm than its key.
    public static let tokenAlgorithm = TokenReasons.algorithm
    /// The token names a key that is not published.
    public static let tokenKeyUnknown = TokenReasons.keyUnknown
    /// The signature of the token is wrong.
    public static let tokenSignature = TokenReasons.signature
    /// The token has expired.
    public static let tokenExpired = TokenReasons.expired
    /// The token was issued in the future.
    public static let tokenNotYetValid = TokenReasons.notYetValid
    /// The token is of another issuer.
    public static let tokenIssuer = TokenReasons.issuer
    /// The token is for another project.
    public static let tokenAudience = TokenReasons.audience
    /// The token names an app that the project does not have.
    public static let tokenAppUnknown = TokenReasons.appUnknown
    /// The token names no provider, or an unknown one.
    public static let tokenProviderUnsupported = Reason(
        "token_provider_unsupported", "The token names no provider, or one that this program does not have.",
        advice: """
            The token was issued by a program with more plugins than this one. Run the same build on all servers; \
            clients get new tokens afterwards.
            """)
    /// The policy does not accept tokens of this provider.
    public static let tokenProviderNotAllowed = TokenReasons.providerNotAllowed
    /// The token is of a provider for development.
    public static let tokenForDevelopment = TokenReasons.forDevelopment
    /// The request has no token.
    public static let tokenMissing = TokenReasons.missing
    /// The token was used before.
    public static let tokenReused = TokenReasons.reused
    /// The request has several tokens.
    public static let tokenRepeated = TokenReasons.repeated
    /// The token is in a URL.
    public static let tokenInURL = TokenReasons.inURL
    /// The policy demands a limited-use token.
    public static let tokenNotLimitedUse = Reason(
        "token_not_limited_use", "The token is a session token, and the policy demands one for limited use.",
        advice: """
            Let the client ask for a limited-use token (`limitedUseToken()`, `getLimitedUseToken()`) for this \
            service, or set `tokens.limited_use: false`.
            """)
    /// The token was issued longer ago than the policy accepts.
    public static let tokenTooOld = TokenReasons.tooOld
    /// The policy does not accept tokens of this app.
    public static let tokenAppNotAllowed = Reason(
        "token_app_not_allowed", "The token is of an app that the policy does not allow for this consumer.",
        advice: """
            Add the app to `tokens.apps` of the consumer if it should have access. Otherwise the refusal follows the \
            policy.
            """)
    /// The policy does not accept tokens of OAuth clients.
    public static let tokenOfOAuthClient = Reason(
        "token_of_oauth_client",
        "The token is of an OAuth client, and the policy does not accept those here.",
        advice: """
            Set `accept_oauth_clients: true` for the service or the consumer if tokens of OAuth clients should be \
            accepted there. They prove an app to an authorization server, and so usually should not be.
            """)
    /// The request names an unknown consumer, or none of several.
    public static let consumerUnknown = Reason(
        "consumer_unknown", "The request names no consumer that a policy has, or none although there are several.",
        advice: """
            Compare the audience, the resource or the project in the request with `consumers` in the policy. If \
            there are several sections of the consumer, the request must name one.
            """)
    /// The user's token is not a JWT.
    public static let actorMalformed = Reason(
        "actor_malformed", "The user's token is not a JWT.",
        advice: """
            Check that the user's credential is a JWT of the identity provider, and not an opaque access token.
            """)
    /// The policy does not trust the issuer of the user's token.
    public static let actorIssuerUnknown = Reason(
        "actor_issuer_unknown", "The user's token is of an issuer that the policy does not trust here.",
        advice: """
            Add the identity provider to `actors` of the consumer, with `issuer` spelled as in the token's `iss`. \
            Without `actors` no token of a user is accepted.
            """)
    /// The user's token has expired.
    public static let actorExpired = Reason(
        "actor_expired", "The user's token has expired.",
        advice: """
            Let the client refresh the user's token before the request. If fresh tokens are refused, correct the \
            server's clock.
            """)
    /// The user's token is invalid.
    public static let actorInvalid = Reason(
        "actor_invalid", "The user's token has a wrong signature, audience, time or claim.",
        advice: """
            The record's `detail` has the check that failed. Compare `audiences`, `subjects` and `claims` of the \
            issuer in `actors` with the token, and check that its `jwks` is the present one.
            """)

    /// The rate limit of the app is exceeded.
    public static let rateLimited = Reason(
        "rate_limited", "More calls came for the app than its policy allows.",
        advice: """
            Find out by the record's `peer` whether one client calls in a loop. If the load is genuine, raise \
            `rate_limit` of the app.
            """)

    /// A rule of the policy refuses what the evidence says.
    public static let ruleRefused = Reason(
        "rule_refused", "The evidence is genuine, and a rule of the policy refuses what it says.",
        advice: """
            The record's `rule` names the rule, and `facts` has what it judged. If too much is refused, try another rule \
            with `enforcement: shadow` first: records then have `would_refuse`.
            """)

    /// The deny list refuses the evidence.
    public static let evidenceDenied = Reason(
        "evidence_denied", "The evidence is genuine, and the deny list has its key or another fact of it.",
        advice: """
            The record's `detail` has the place of the entry and its note. Remove the entry (`deny` in the policies, or \
            `assay deny remove`) when the incident is over, or give it an end with `until`.
            """)
    /// The deny list refuses the token.
    public static let tokenDenied = Reason(
        "token_denied", "The token is valid, and the deny list has its `jti`, or the key that it was issued for.",
        advice: """
            The record's `detail` has the place of the entry and its note. A token that was issued before its key was \
            denied is refused by servers of Assay only; a backend that verifies tokens by itself accepts it until it ends.
            """)

    /// The reasons of challenges.
    public static let challenges = [
        challengeMalformed, challengeForged, challengeForAnotherApp, challengeExpired, challengeNotYetValid,
        challengeAlreadyUsed,
    ]

    /// The reasons of App Check tokens.
    public static let tokens = [
        tokenPlaceholder, tokenMalformed, tokenAlgorithm, tokenKeyUnknown, tokenSignature,
        tokenExpired, tokenNotYetValid, tokenIssuer, tokenAudience, tokenAppUnknown, tokenProviderUnsupported,
        tokenProviderNotAllowed, tokenForDevelopment, tokenMissing, tokenReused, tokenRepeated,
        tokenInURL, tokenNotLimitedUse, tokenTooOld, tokenAppNotAllowed, tokenOfOAuthClient, tokenDenied,
    ]

    /// All of them.
    public static let all =
        challenges + tokens + [
            consumerUnknown, actorMalformed, actorIssuerUnknown, actorExpired, actorInvalid, rateLimited, ruleRefused,
            evidenceDenied,
        ]
}

/// The facts that the kernel puts on record.
extension FactName {
    /// The `jti` of a token that was verified.
    public static let tokenID: FactName = "token_id"
    /// The app or OAuth client that a token speaks for.
    public static let app: FactName = "app"
    /// The `sub` of the JWT that authenticated a caller.
    public static let callerSubject: FactName = "caller_subject"
    /// The permission that a caller lacks.
    public static let permission: FactName = "permission"
    /// The consumer that a token was presented to.
    public static let consumer: FactName = "consumer"
    /// The user on whose behalf a token was presented: the `sub` of the user's token.
    public static let actor: FactName = "actor"
    /// Whether a token was consumed before.
    public static let alreadyConsumed: FactName = "already_consumed"
    /// A service whose level of protection was changed, and its present levels.
    public static let serviceLevel: FactName = "service_level"
    /// A resource policy that was changed, and the level that it sets now.
    public static let resourceLevel: FactName = "resource_level"
    /// An entry of the deny list that was added or removed.
    public static let denyEntry: FactName = "deny_entry"
    /// The name of the caller's token, for a caller with several.
    public static let callerToken: FactName = "caller_token"

    /// All of them: a plugin that declared one could put words of its own in the kernel's mouth.
    static let ofKernel: Set<FactName> = [
        .tokenID, .app, .callerSubject, .permission, .consumer, .actor, .alreadyConsumed, .serviceLevel, .resourceLevel,
        .denyEntry, .callerToken,
    ]
}
