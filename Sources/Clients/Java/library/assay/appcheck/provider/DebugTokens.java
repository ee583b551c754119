package assay.appcheck.provider;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;

/** Exchanges a debug token, which an operator has registered: for emulators and tests, never for users. */
public final class DebugTokens implements TokenProvider {
    private static final String NAME = "debug-token";
    private static final Pattern FORM = Pattern.compile("[!-~]{1,256}");
    private static final Pattern MADE = Pattern.compile("[0-9A-F-]{36}");

    private final String given;
    private volatile boolean isNoted;

    /**
     * Exchanges this debug token.
     *
     * @throws IllegalArgumentException for a text that is empty, too long, or has spaces in it
     */
    public DebugTokens(String debugToken) {
        if (!FORM.matcher(debugToken).matches()) throw new IllegalArgumentException("that is no debug token");
        given = debugToken;
    }

    private DebugTokens() {
        given = null;
    }

    /** Exchanges a debug token that is made once, kept, and told in a notice so that you can register it. */
    public static DebugTokens generated() {
        return new DebugTokens();
    }

    @Override
    public IssuedToken fetch(TokenRequest request) throws AppCheckException {
        String token = given != null ? given : kept(request);
        try {
            return request.service().exchange(
                "exchangeDebugToken", Collections.singletonMap("debugToken", token), request.isLimitedUse());
        } catch (AppCheckException error) {
            if (given == null && error.code() == Code.REFUSED && !isNoted) {
                isNoted = true;
                request.note("App Check debug token: '" + token + "'. Register it with your server to let this device in.");
            }
            throw error;
        }
    }

    private static String kept(TokenRequest request) {
        byte[] stored = request.storage().load(NAME);
        String token = stored == null ? "" : new String(stored, StandardCharsets.US_ASCII);
        if (MADE.matcher(token).matches()) return token;
        token = UUID.randomUUID().toString().toUpperCase(Locale.ROOT);
        request.storage().save(NAME, token.getBytes(StandardCharsets.US_ASCII));
        return token;
    }
}
