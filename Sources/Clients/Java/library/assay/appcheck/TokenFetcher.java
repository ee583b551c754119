package assay.appcheck;

import java.util.Map;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.calls.RequestProof;
import assay.appcheck.provider.AppCheckService;
import assay.appcheck.provider.IssuedToken;
import assay.appcheck.provider.RequestProver;
import assay.appcheck.provider.TokenProvider;
import assay.appcheck.provider.TokenRequest;
import assay.appcheck.storage.BoundStorage;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.wire.AppName;
import assay.appcheck.wire.Limits;
import assay.appcheck.wire.ServerAddress;
import assay.appcheck.wire.TokenClaims;

/** Fetches tokens of one app by its provider, checks them, and keeps them. */
final class TokenFetcher {
    private final AppName app;
    private final TokenProvider provider;
    private final AppCheckOptions options;
    private final AppCheckService service;
    private final BoundStorage storage;

    TokenFetcher(AppName app, ServerAddress server, TokenProvider provider, AppCheckOptions options) {
        this.app = app;
        this.provider = provider;
        this.options = options;
        service = new AppCheckService(app, server, options.transport, options.clock, options.requestLimitMillis);
        storage = new BoundStorage(app.text, server.text, options.storage, options.notice);
    }

    /** The stored token; null without one that may be used. */
    AppCheckToken restored() {
        String boot = options.clock.boot();
        byte[] bytes = boot == null ? null : storage.load(StoredToken.NAME);
        if (bytes == null) return null;
        AppCheckToken token = StoredToken.decode(bytes, boot, options.clock.millis());
        TokenClaims claims = token == null ? null : TokenClaims.read(token.text());
        if (claims != null && claims.isOf(app)) return token;
        storage.remove(StoredToken.NAME);
        return null;
    }

    AppCheckToken fetch(boolean isLimitedUse, long start) throws AppCheckException {
        IssuedToken issued;
        try {
            issued = provider.fetch(new TokenRequest(isLimitedUse, service, storage, options.notice));
        } catch (AppCheckException error) {
            throw error;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AppCheckException(Code.TIMED_OUT, "The provider was interrupted.", interrupted);
        } catch (Exception | LinkageError failure) {
            throw new AppCheckException(Code.PROVIDER_FAILED, "The provider failed; the cause is its own.", failure);
        }
        if (issued == null) throw new AppCheckException(Code.PROVIDER_FAILED, "The provider returned no token.");
        AppCheckToken token = checked(issued, isLimitedUse, start);
        String boot = options.clock.boot();
        if (!isLimitedUse && boot != null) storage.save(StoredToken.NAME, StoredToken.encode(token, boot));
        return token;
    }

    private AppCheckToken checked(IssuedToken issued, boolean isLimitedUse, long start) throws AppCheckException {
        TokenClaims claims = issued.text() == null ? null : TokenClaims.read(issued.text());
        if (claims == null) {
            throw new AppCheckException(
                Code.MALFORMED_REPLY, "The token is no JWT of at most " + Limits.TOKEN + " characters.");
        }
        if (!claims.isOf(app)) {
            throw new AppCheckException(
                Code.FOREIGN_TOKEN,
                "The token is of another app than " + app.text + ". It is not used. Check the app's name and the server's URL.");
        }
        Long claimed = claims.lifetimeMillis();
        // Both are the server's. The shorter one is safe.
        long lifetime = claimed == null ? issued.lifetimeMillis() : Math.min(claimed, issued.lifetimeMillis());
        if (lifetime <= 0 || issued.lifetimeMillis() > Limits.LIFETIME_MILLIS) {
            throw new AppCheckException(
                Code.MALFORMED_REPLY, "The token's lifetime is not more than 0 s, or more than 7 days.");
        }
        long now = options.clock.millis();
        // Never after the present: a provider cannot make a token last longer.
        long requested = Math.min(issued.requestedAtMillis() == null ? start : issued.requestedAtMillis(), now);
        return new AppCheckToken(issued.text(), requested, now, requested + lifetime, isLimitedUse);
    }

    Map<String, String> proof(HttpRequest request, ServerAddress address, AppCheckToken token) throws AppCheckException {
        TokenClaims claims = TokenClaims.read(token.text());
        String keyId = claims == null ? null : claims.keyId();
        if (keyId == null || claims.issued() == null) {
            throw new AppCheckException(
                Code.NOT_CONFIGURED, "The token names no key. Set `key_in_tokens: true` in the app's `android_key` in the server's policy.");
        }
        if (!(provider instanceof RequestProver)) {
            throw new AppCheckException(Code.UNSUPPORTED_DEVICE, "The provider has no key that signs requests. AndroidKey has one.");
        }
        // By the server's time, as the clock of the device may be wrong; rather too early than in the server's future.
        long age = Math.max(0, options.clock.millis() - token.received) / 1000;
        RequestProof proof = new RequestProof(request, address, claims.issued() + age);
        byte[] assertion = ((RequestProver) provider).assertion(proof.clientDataHash(), keyId, storage);
        if (assertion == null) {
            throw new AppCheckException(Code.KEY_CHANGED, "The device has another key than the token names. Force a refresh.");
        }
        return proof.headers(assertion);
    }
}
