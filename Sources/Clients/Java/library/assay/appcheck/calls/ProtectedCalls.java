package assay.appcheck.calls;

import java.io.IOException;
import java.util.Map;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;
import assay.appcheck.AppCheckToken;
import assay.appcheck.AssayAppCheck;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.HttpResponse;
import assay.appcheck.transport.Transport;

/**
 * Calls backends with the app's token in the header {@code X-Firebase-AppCheck}.
 *
 * <p>A response 401 that says that the token is invalid is answered once with a fresh token. A token goes to {@code https} and to
 * this machine only, and never into a URL. Redirects are returned and not followed: they may lead to another server.
 */
public final class ProtectedCalls {
    private final AssayAppCheck appCheck;
    private final Transport transport;
    private final TokenKind kind;
    private final boolean isProven;

    /**
     * Makes an object that calls backends.
     *
     * @param isProven whether each request is sent with a proof that this device made it, for backends that demand one
     */
    public ProtectedCalls(AssayAppCheck appCheck, Transport transport, TokenKind kind, boolean isProven) {
        this.appCheck = appCheck;
        this.transport = transport;
        this.kind = kind;
        this.isProven = isProven;
    }

    /**
     * Sends a request with a token, and returns the response, whatever its status. It waits.
     *
     * @throws AppCheckException the reason why there is no token, or {@code INSECURE} when the request would expose one
     * @throws IOException when there is no whole response
     */
    public HttpResponse send(HttpRequest request) throws AppCheckException, IOException, InterruptedException {
        appCheck.demandProtection(request.url());
        AppCheckToken token = kind.await(appCheck, false);
        HttpRequest sent;
        boolean isFresh = false;
        try {
            sent = prepared(request, token);
        } catch (AppCheckException error) {
            if (error.code() != Code.KEY_CHANGED) throw error;
            isFresh = true;
            token = kind.await(appCheck, true);
            sent = prepared(request, token);
        }
        HttpResponse response = transport.send(sent);
        if (isFresh || response.status() != 401 || !TokenRefusal.isSaidBy(response.header("WWW-Authenticate"))) return response;
        AppCheckToken fresh = kind.awaitAfter(appCheck, token.text());
        return fresh == null ? response : transport.send(prepared(request, fresh));
    }

    private HttpRequest prepared(HttpRequest request, AppCheckToken token) throws AppCheckException {
        if (request.url().contains(token.text())) {
            throw new AppCheckException(Code.INSECURE, "The URL has the token in it, where logs and proxies see it.");
        }
        HttpRequest sent = request.withHeader(AssayAppCheck.HEADER, token.text());
        if (!isProven) return sent;
        for (Map.Entry<String, String> field : appCheck.proof(request, token).entrySet()) {
            sent = sent.withHeader(field.getKey(), field.getValue());
        }
        return sent;
    }
}
