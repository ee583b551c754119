package assay.appcheck.okhttp;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import okhttp3.Authenticator;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.Route;
import okio.Buffer;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckToken;
import assay.appcheck.AssayAppCheck;
import assay.appcheck.calls.TokenKind;
import assay.appcheck.calls.TokenRefusal;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.wire.ServerAddress;
import assay.appcheck.wire.Texts;

/**
 * Puts the app's token into the requests of an OkHttp client, for the backends that are named, and tries once more when one of
 * them refused the token.
 *
 * <pre>{@code
 * AppCheckInterceptor appCheck = new AppCheckInterceptor(assay, TokenKind.SESSION, false, "https://api.example.com");
 * OkHttpClient client = new OkHttpClient.Builder().addNetworkInterceptor(appCheck).authenticator(appCheck).build();
 * }</pre>
 *
 * <p>Add it as a <em>network</em> interceptor: OkHttp asks it again for each redirect, and a token goes to no other origin.
 */
public final class AppCheckInterceptor implements Interceptor, Authenticator {
    private final AssayAppCheck appCheck;
    private final TokenKind kind;
    private final boolean isProven;
    private final Set<String> origins = new HashSet<>();

    /**
     * Makes an interceptor.
     *
     * @param isProven whether each request has a proof that this device made it; its body is read into memory then
     * @param origins of the backends that get tokens: {@code https://host[:port]}
     * @throws IllegalArgumentException for an origin to which no token is sent
     */
    public AppCheckInterceptor(AssayAppCheck appCheck, TokenKind kind, boolean isProven, String... origins) {
        this.appCheck = appCheck;
        this.kind = kind;
        this.isProven = isProven;
        for (String origin : origins) {
            try {
                appCheck.demandProtection(origin);
                this.origins.add(ServerAddress.read(origin).origin());
            } catch (AppCheckException insecure) {
                throw new IllegalArgumentException("a token is not sent to " + origin, insecure);
            }
        }
    }

    @Override
    public Response intercept(Chain chain) throws IOException {
        Request request = chain.request();
        ServerAddress address = ServerAddress.read(withoutFragment(request));
        if (address == null || !origins.contains(address.origin())) {
            // After a redirect the fields of the application's own request are there again.
            return chain.proceed(request.newBuilder().removeHeader(AssayAppCheck.HEADER).build());
        }
        try {
            AppCheckToken token = kind.await(appCheck, false);
            Map<String, String> proof = Collections.emptyMap();
            if (isProven) {
                try {
                    proof = appCheck.proof(proven(request), token);
                } catch (AppCheckException error) {
                    if (error.code() != AppCheckException.Code.KEY_CHANGED) throw error;
                    token = kind.await(appCheck, true);
                    proof = appCheck.proof(proven(request), token);
                }
            }
            Request.Builder builder = request.newBuilder().header(AssayAppCheck.HEADER, token.text());
            for (Map.Entry<String, String> field : proof.entrySet()) builder.header(field.getKey(), field.getValue());
            return chain.proceed(builder.build());
        } catch (AppCheckException error) {
            throw new IOException(error.getMessage(), error);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted while it waited for a token").initCause(interrupted);
        }
    }

    /** The request once more when its token was refused and there is a newer one; null for another 401, and a second time. */
    @Override
    public Request authenticate(Route route, Response response) throws IOException {
        Response last = response.networkResponse();
        String refused = last == null ? null : last.request().header(AssayAppCheck.HEADER);
        boolean isSaid = false;
        for (String challenge : response.headers("WWW-Authenticate")) isSaid |= TokenRefusal.isSaidBy(challenge);
        if (refused == null || !isSaid || response.priorResponse() != null) return null;
        try {
            // One for one use is fetched when the request is sent.
            boolean isWorthwhile = kind == TokenKind.LIMITED_USE || kind.awaitAfter(appCheck, refused) != null;
            return isWorthwhile ? response.request() : null;
        } catch (AppCheckException error) {
            throw new IOException(error.getMessage(), error);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("interrupted while it waited for a token").initCause(interrupted);
        }
    }

    /** A fragment is not sent. */
    private static String withoutFragment(Request request) {
        String url = request.url().toString();
        int mark = url.indexOf('#');
        return mark < 0 ? url : url.substring(0, mark);
    }

    private static HttpRequest proven(Request request) throws IOException {
        HttpRequest proven = new HttpRequest(request.method(), withoutFragment(request));
        for (String name : Arrays.asList("Signature-Input", "Signature")) {
            String value = Texts.join(", ", request.headers(name));
            if (!value.isEmpty()) proven = proven.withHeader(name, value);
        }
        RequestBody body = request.body();
        if (body == null) return proven;
        if (body.isOneShot() || body.isDuplex()) throw new IOException("a body that cannot be read twice cannot be proved");
        Buffer buffer = new Buffer();
        body.writeTo(buffer);
        return proven.withBody(buffer.readByteArray());
    }
}
