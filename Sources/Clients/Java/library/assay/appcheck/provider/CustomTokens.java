package assay.appcheck.provider;

import java.util.Collections;
import java.util.concurrent.Callable;

import assay.appcheck.AppCheckException;

/** Exchanges custom tokens, which a backend of your own signs for the app when it is convinced by its own checks. */
public final class CustomTokens implements TokenProvider {
    private final Callable<String> fetch;

    /** @param fetch gets a new custom token, a JWT, from your backend; it may wait */
    public CustomTokens(Callable<String> fetch) {
        this.fetch = fetch;
    }

    @Override
    public IssuedToken fetch(TokenRequest request) throws Exception {
        String token = fetch.call();
        if (token == null) throw new AppCheckException(AppCheckException.Code.PROVIDER_FAILED, "There is no custom token.");
        return request.service().exchange(
            "exchangeCustomToken", Collections.singletonMap("customToken", token), request.isLimitedUse());
    }
}
