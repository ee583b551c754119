package assay.appcheck;

import java.io.Closeable;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.provider.TokenProvider;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.UrlConnectionTransport;
import assay.appcheck.wire.AppName;
import assay.appcheck.wire.ServerAddress;

/**
 * The App Check tokens of one app: fetched with evidence, kept, and renewed in time.
 *
 * <p>Make one for each app, and keep it. Callers at the same time share one exchange. Exchanges are sent one after the other,
 * since the counter of a device's key must rise from one to the next. While somebody listens, the token is renewed after half of
 * its life and five minutes. It may be used by any thread, and its own threads are daemons.
 *
 * <pre>{@code
 * AssayAppCheck appCheck = new AssayAppCheck(
 *     "projects/1234567890/apps/1:1234567890:android:321abc456def7890", "https://assay.example.com",
 *     new AndroidKey(new AndroidKeyStoreAttestor(), context.getPackageName()), AndroidOptions.of(context));
 * appCheck.getToken(false).thenAccept(token -> call(token.text()));
 * }</pre>
 */
public final class AssayAppCheck implements Closeable {
    /** The name of the header field that carries a token to a backend. */
    public static final String HEADER = "X-Firebase-AppCheck";

    private final TokenDriver driver;
    private final TokenFetcher fetcher;
    private final AppCheckOptions options;
    private final UrlConnectionTransport ownTransport;
    private final ThreadPoolExecutor ownCallbacks;

    /**
     * Makes the tokens of an app available; sends nothing.
     *
     * @param app the resource name: {@code projects/PROJECT/apps/APP_ID} or {@code oauthClients/CLIENT_ID}
     * @param server its URL, with or without {@code /v1}. Plain {@code http} is accepted for {@code localhost},
     *     {@code 127.0.0.1} and {@code [::1]}, and for others by {@link AppCheckOptions#allowingCleartext()}.
     * @throws IllegalArgumentException which says what is wrong with one of them
     */
    public AssayAppCheck(String app, String server, TokenProvider provider, AppCheckOptions options) {
        AppName name = AppName.read(app);
        if (name == null) {
            throw new IllegalArgumentException("`app` is no resource name: write projects/PROJECT/apps/APP_ID or oauthClients/CLIENT_ID");
        }
        ServerAddress given = ServerAddress.read(server);
        ServerAddress address = given == null ? null : given.service();
        if (address == null) {
            throw new IllegalArgumentException("`server` is no URL such as https://assay.example.com, without user, query and fragment");
        }
        if (!address.isProtected() && !options.allowsCleartext) {
            throw new IllegalArgumentException("`server` is plain http to another machine, which would show evidence and tokens on the way");
        }
        ownTransport = options.transport == null ? new UrlConnectionTransport() : null;
        ownCallbacks = options.callbacks == null ? callbackThread() : null;
        this.options = options.completed(
            ownTransport == null ? options.transport : ownTransport, ownCallbacks == null ? options.callbacks : ownCallbacks);
        fetcher = new TokenFetcher(name, address, provider, this.options);
        driver = new TokenDriver(fetcher, this.options);
    }

    private static ThreadPoolExecutor callbackThread() {
        ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread made = new Thread(work, "assay-app-check-callbacks");
            made.setDaemon(true);
            return made;
        });
        thread.allowCoreThreadTimeOut(true);
        return thread;
    }

    /**
     * A session token with more than five minutes left, from memory, else from storage, else from the server.
     *
     * <p>The token of a fetch is given to those that waited for it even if it lasts less than five minutes.
     *
     * @param forceRefresh whether a token from memory or storage will not do, as after a backend refused it. A fetch that is
     *     running is joined.
     * @return completed by the executor of the options; exceptionally with an {@link AppCheckException}. During the pause after a
     *     failure, with its error at once.
     */
    public CompletableFuture<AppCheckToken> getToken(boolean forceRefresh) {
        Answers.Future answer = new Answers.Future();
        getToken(forceRefresh, options.callbacks, answer);
        return answer.future;
    }

    /**
     * The same with a callback.
     *
     * @param executor runs the callback. One that runs it in the calling thread must not be given work that waits.
     */
    public void getToken(boolean forceRefresh, Executor executor, TokenCallback callback) {
        driver.want(new Answers.Forwarded(executor, callback), forceRefresh);
    }

    /**
     * The same for a thread that may wait, which is never the main thread of an app.
     *
     * @throws IllegalStateException in a provider, or in a callback that its executor runs at once: it would wait for itself
     */
    public AppCheckToken awaitToken(boolean forceRefresh) throws AppCheckException, InterruptedException {
        AppCheckToken usable = forceRefresh ? null : driver.usable();
        return usable != null ? usable : await(answer -> driver.want(answer, forceRefresh));
    }

    /**
     * A token for one use, which is made for this caller alone and not kept.
     *
     * @return completed as that of {@link #getToken(boolean)}
     */
    public CompletableFuture<AppCheckToken> getLimitedUseToken() {
        Answers.Future answer = new Answers.Future();
        getLimitedUseToken(options.callbacks, answer);
        return answer.future;
    }

    /** The same with a callback. */
    public void getLimitedUseToken(Executor executor, TokenCallback callback) {
        driver.wantLimitedUse(new Answers.Forwarded(executor, callback));
    }

    /** The same for a thread that may wait; see {@link #awaitToken(boolean)}. */
    public AppCheckToken awaitLimitedUseToken() throws AppCheckException, InterruptedException {
        return await(driver::wantLimitedUse);
    }

    /**
     * A newer token than one that a backend has refused; null when that one is younger than a minute.
     *
     * <p>A backend that refuses every token must not make each call a fetch. It waits; see {@link #awaitToken(boolean)}.
     *
     * @param refused the text of the token that was sent
     */
    public AppCheckToken awaitTokenAfter(String refused) throws AppCheckException, InterruptedException {
        AppCheckToken token = awaitToken(false);
        if (!token.text().equals(refused)) return token;
        return options.clock.millis() - token.requested < 60_000 ? null : awaitToken(true);
    }

    /** The session token in memory, while it has more than five minutes left; otherwise null. It does not wait. */
    public AppCheckToken currentToken() {
        return driver.usable();
    }

    /** How many milliseconds a token has left; negative when it has ended. */
    public long millisLeft(AppCheckToken token) {
        return token.expires - options.clock.millis();
    }

    /**
     * Adds a listener, which is told of the present token at once; while there is one, the token is renewed in the background.
     *
     * @param executor runs the listener, one call after the other
     */
    public void addListener(Executor executor, TokenListener listener) {
        driver.listen(executor, listener);
    }

    /** Adds a listener, which the executor of the options runs. */
    public void addListener(TokenListener listener) {
        addListener(options.callbacks, listener);
    }

    /** Removes a listener. */
    public void removeListener(TokenListener listener) {
        driver.unlisten(listener);
    }

    /**
     * The header fields that prove that this device made a request: {@code Content-Digest}, {@code Signature-Input} and
     * {@code Signature}. They are good once, for this method, URL and body, and for about a minute.
     *
     * <p>It waits for the key store. The server's policy must have {@code key_in_tokens}.
     *
     * @param request as it will be sent; its other signatures stay beside the proof
     * @param token that is sent with it
     * @throws AppCheckException {@code NOT_CONFIGURED} when the token names no key, {@code UNSUPPORTED_DEVICE} when the provider
     *     cannot sign, {@code KEY_CHANGED} when the device has another key than the token: a new token mends it
     */
    public Map<String, String> proof(HttpRequest request, AppCheckToken token) throws AppCheckException {
        demandProtection(request.url());
        return fetcher.proof(request, ServerAddress.read(request.url()), token);
    }

    /**
     * Makes sure that a token may be sent to a backend.
     *
     * @throws AppCheckException {@code INSECURE} for plain {@code http} to another machine, and for what is no URL, or one with a
     *     user or a fragment
     */
    public void demandProtection(String url) throws AppCheckException {
        ServerAddress address = ServerAddress.read(url);
        if (address != null && (address.isProtected() || options.allowsCleartext)) return;
        throw new AppCheckException(
            Code.INSECURE, "A token is sent to https, or to localhost, 127.0.0.1 and [::1], and to no URL with a user or a fragment.");
    }

    /** Ends all threads; callers that wait get {@code CLOSED}. Tokens that were given out stay valid. */
    @Override
    public void close() {
        driver.close();
        if (ownTransport != null) ownTransport.close();
        if (ownCallbacks != null) ownCallbacks.shutdown();
    }

    private static AppCheckToken await(Consumer<TokenCallback> want) throws AppCheckException, InterruptedException {
        if (TokenDriver.isNeededThread()) {
            throw new IllegalStateException("this thread answers callers of AssayAppCheck: it must not wait for a token");
        }
        Answers.Waiting answer = new Answers.Waiting();
        want.accept(answer);
        return answer.await();
    }
}
