package assay.appcheck.provider;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;

/**
 * Exchanges tokens of Google's Play Integrity, by classic requests. The app brings the call of Google's library:
 *
 * <pre>{@code
 * IntegrityManager manager = IntegrityManagerFactory.create(context);
 * TokenProvider provider = new PlayIntegrity(nonce -> Tasks.await(manager.requestIntegrityToken(
 *     IntegrityTokenRequest.builder().setCloudProjectNumber(1234567890L).setNonce(nonce).build())).token());
 * }</pre>
 *
 * <p>Google allows an app instance 5 of them a minute. The server's method is App Check's {@code exchangePlayIntegrityToken}.
 */
public final class PlayIntegrity implements TokenProvider {
    /** Asks Google Play for an integrity token. */
    public interface IntegrityTokens {
        /**
         * A token for a nonce; it may wait.
         *
         * @param nonce the challenge of the server, unchanged
         * @throws Exception any error of Google's library; an {@link AppCheckException} says when to come back
         */
        String request(String nonce) throws Exception;
    }

    /** What Google takes as a nonce: URL-safe Base 64 of 16 to 500 characters. */
    private static final Pattern NONCE = Pattern.compile("[A-Za-z0-9_=-]{16,500}");

    private final IntegrityTokens tokens;

    /** @param tokens calls Google's library */
    public PlayIntegrity(IntegrityTokens tokens) {
        this.tokens = tokens;
    }

    @Override
    public IssuedToken fetch(TokenRequest request) throws Exception {
        ServiceReply reply = request.service().call("generatePlayIntegrityChallenge", Collections.emptyMap());
        String challenge = reply.text("challenge");
        if (challenge == null || !NONCE.matcher(challenge).matches()) {
            throw reply.malformed("`challenge` is not URL-safe Base 64 of 16 to 500 characters");
        }
        String token = tokens.request(challenge);
        if (token == null) throw new AppCheckException(Code.PROVIDER_FAILED, "Google Play has returned no token.");
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("playIntegrityToken", token);
        // In this spelling, and only when it is true, as App Check's SDK for Android has it.
        if (request.isLimitedUse()) body.put("limited_use", true);
        return request.service().call("exchangePlayIntegrityToken", body).token(null);
    }
}
