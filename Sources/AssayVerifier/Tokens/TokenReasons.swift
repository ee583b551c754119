public import AssayCore

/// Why a relying party refuses a token.
public enum TokenReasons {
    /// `token_placeholder`: the token is what App Check clients send when they could not obtain one.
    public static let placeholder = Reason(
        "token_placeholder", "The token is what App Check clients send when they could not obtain one.",
        advice: """
            The client could not get a token. Look for the refusal of its evidence at the same time, by its app, or \
            for an outage; App Check SDKs send this text instead of a token.
            """)
    /// `token_malformed`: the token is not a JWT of the App Check form.
    public static let malformed = Reason(
        "token_malformed", "The token is not a JWT of the App Check form.",
        advice: """
            Check that the client sends the App Check token itself, and not an ID token, and that no proxy cuts or \
            changes the header `X-Firebase-AppCheck`.
            """)
    /// `token_algorithm`: the token names a signature algorithm that its key is not for.
    public static let algorithm = Reason(
        "token_algorithm", "The token names a signature algorithm that its key is not for.",
        advice: """
            No token of this service has this header: a token of another service was sent, or one was forged. \
            Compare `alg` of the token with the policy's `tokens.algorithm`.
            """)
    /// `token_key_unknown`: the token is signed by a key that is not published.
    public static let keyUnknown = Reason(
        "token_key_unknown", "The token is signed by a key that is not published.",
        advice: """
            Check that the verifying server reads the same key folder as the issuing one, or fetches its JWKS. A \
            token of Firebase itself or of another deployment is refused like this, too. If a key was revoked, \
            clients get new tokens by themselves.
            """)
    /// `token_signature`: the token's signature is wrong.
    public static let signature = Reason(
        "token_signature", "The token's signature is wrong.",
        advice: """
            The token was altered or forged. If every token fails, the verifier has another key under the same key \
            identifier: compare the key folders of all servers.
            """)
    /// `token_expired`: the token has expired.
    public static let expired = Reason(
        "token_expired", "The token has expired.",
        advice: """
            The client kept the token too long: App Check SDKs refresh it in time. Check that the backend does not \
            store tokens, and compare its clock with the issuer's.
            """)
    /// `token_not_yet_valid`: the token was issued in the future.
    public static let notYetValid = Reason(
        "token_not_yet_valid", "The token was issued in the future.",
        advice: "The verifier's clock is behind the issuer's: correct the clocks.")
    /// `token_issuer`: the token has another issuer than expected.
    public static let issuer = Reason(
        "token_issuer", "The token has another issuer than expected.",
        advice: """
            Check the project number in the client's configuration, and `issuer` of the project in the policy: \
            tokens of Firebase itself, or from before a change of `issuer`, are refused.
            """)
    /// `token_audience`: the token is for another project.
    public static let audience = Reason(
        "token_audience", "The token is for another project.",
        advice: """
            The client belongs to another project than the one it calls. Check its `projectNumber`, and which \
            project the request, the proxy or the verifier names.
            """)
    /// `token_app_unknown`: the token speaks for an app that the project's policy does not have.
    public static let appUnknown = Reason(
        "token_app_unknown", "The token speaks for an app that the project's policy does not have.",
        advice: """
            Add the app to `apps` of the project in the policy, or find out why clients of an app that was removed \
            still call.
            """)
    /// `token_provider_not_allowed`: the token is of a provider that its app's policy does not name.
    public static let providerNotAllowed = Reason(
        "token_provider_not_allowed", "The token is of a provider that its app's policy does not name.",
        advice: """
            Name the provider under `providers` of the app, or in `tokens.providers` of the consumer, if its tokens \
            should be accepted. Otherwise the refusal follows the policy.
            """)
    /// `token_for_development`: the token is of a provider for development, which the policy does not accept here.
    public static let forDevelopment = Reason(
        "token_for_development", "The token is of a provider for development, which the policy does not accept here.",
        advice: """
            A build for development calls a protected service. Use evidence of a real device, or set \
            `accept_development: true` on a test system; never in production.
            """)
    /// `token_too_old`: the token was issued longer ago than the backend allows.
    public static let tooOld = Reason(
        "token_too_old", "The token was issued longer ago than the backend allows.",
        advice: """
            Let the client refresh its token before this request, or raise `tokens.max_age` of the consumer \
            (`max_age` of the verifier).
            """)
    /// `token_missing`: the token is missing.
    public static let missing = Reason(
        "token_missing", "The token is missing.",
        advice: """
            Check that the client installs App Check before its first request, and that no proxy removes the header \
            `X-Firebase-AppCheck`. Old versions of an app send no token: watch `assay_token_uses_total` before you \
            enforce.
            """)
    /// `token_repeated`: the request has several tokens, and other readers might use another one.
    public static let repeated = Reason(
        "token_repeated", "The request has several tokens, and other readers might use another one.",
        advice: """
            Find out which client or proxy adds a second `X-Firebase-AppCheck` header, and let it replace the first \
            one.
            """)
    /// `token_in_url`: the query of a URL has a token, where logs and histories keep it.
    public static let inURL = Reason(
        "token_in_url", "The query of a URL has a token, where logs and histories keep it.",
        advice: """
            Send the token in the header `X-Firebase-AppCheck`. A token in a URL is in logs: treat it as disclosed \
            until it expires.
            """)
    /// `token_reused`: the token was used before.
    public static let reused = Reason(
        "token_reused", "The token was used before.",
        advice: """
            A client presented a limited-use token, or one under replay protection, twice. Check that it asks for a \
            new limited-use token for each request, also when it retries. Many cases of one `jti` are replays. If the \
            record says that the state began later, nobody is to blame: the client fetches a new token.
            """)
}
