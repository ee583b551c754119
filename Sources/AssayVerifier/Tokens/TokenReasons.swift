public import AssayKit

/// Why a relying party refuses a token.
public enum TokenReasons {
    public static let placeholder = Reason(
        "token_placeholder", "The token is what App Check clients send when they could not obtain one.")
    public static let malformed = Reason("token_malformed", "The token is not a JWT of the App Check form.")
    public static let algorithm = Reason(
        "token_algorithm", "The token names a signature algorithm that its key is not for.")
    public static let keyUnknown = Reason(
        "token_key_unknown", "The token is signed by a key that is not published.")
    public static let signature = Reason("token_signature", "The token's signature is wrong.")
    public static let expired = Reason("token_expired", "The token has expired.")
    public static let notYetValid = Reason("token_not_yet_valid", "The token was issued in the future.")
    public static let issuer = Reason("token_issuer", "The token was issued by somebody else.")
    public static let audience = Reason("token_audience", "The token is for another project.")
    public static let appUnknown = Reason(
        "token_app_unknown", "The token speaks for an app that the project's policy does not have.")
    public static let providerNotAllowed = Reason(
        "token_provider_not_allowed", "The token is of a provider that its app's policy does not name.")
    public static let forDevelopment = Reason(
        "token_for_development", "The token is of a provider for development, which the policy does not accept here.")
    public static let tooOld = Reason("token_too_old", "The token was issued longer ago than the backend allows.")
    public static let missing = Reason("token_missing", "There is no token.")
    public static let repeated = Reason(
        "token_repeated", "There are several tokens, of which others might read another one.")
    public static let inURL = Reason(
        "token_in_url", "There is a token in the query of a URL, where logs and histories keep it.")
    public static let reused = Reason("token_reused", "The token was used before.")
}
