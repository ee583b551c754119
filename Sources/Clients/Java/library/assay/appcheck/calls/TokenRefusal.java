package assay.appcheck.calls;

import java.util.Locale;

/** How a backend says that the App Check token is what it refuses: {@code WWW-Authenticate: AppCheck …, error="invalid_token"}. */
public final class TokenRefusal {
    private TokenRefusal() {}

    /**
     * Whether the value of a header field {@code WWW-Authenticate} says so.
     *
     * @param challenge null without the field
     */
    public static boolean isSaidBy(String challenge) {
        if (challenge == null) return false;
        String value = challenge.toLowerCase(Locale.ROOT);
        return value.startsWith("appcheck ") && value.contains("error=\"invalid_token\"");
    }
}
