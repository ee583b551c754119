package assay.appcheck;

import java.util.concurrent.Executor;
import java.util.function.Consumer;

import assay.appcheck.storage.ClientStorage;
import assay.appcheck.storage.MemoryStorage;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.Transport;
import assay.appcheck.transport.UrlConnectionTransport;

/**
 * What an {@link AssayAppCheck} reaches the world by; immutable. Begin with {@link #standard()}, and change what you need.
 *
 * <p>Apps on Android begin with {@code assay.appcheck.android.AndroidOptions.of(context)}.
 */
public final class AppCheckOptions {
    private static final AppCheckOptions STANDARD = new AppCheckOptions();

    /** Null for an {@link UrlConnectionTransport} that is made and closed with the {@link AssayAppCheck}. */
    Transport transport;
    ClientStorage storage;
    MonotonicClock clock = new SystemClock();
    Executor callbacks;
    Consumer<String> notice = sentence -> System.err.println("[AssayAppCheck] " + sentence);
    int requestLimitMillis = HttpRequest.TIME_LIMIT_MILLIS;
    long fetchLimitMillis = 120_000;
    boolean allowsCleartext;

    private AppCheckOptions() {}

    private AppCheckOptions(AppCheckOptions other) {
        transport = other.transport;
        storage = other.storage;
        clock = other.clock;
        callbacks = other.callbacks;
        notice = other.notice;
        requestLimitMillis = other.requestLimitMillis;
        fetchLimitMillis = other.fetchLimitMillis;
        allowsCleartext = other.allowsCleartext;
    }

    /**
     * {@code HttpURLConnection}, a storage in memory, the clock of {@link SystemClock}, a thread of the library's own for
     * callbacks, 30 seconds for a request and two minutes for a token.
     */
    public static AppCheckOptions standard() {
        return STANDARD;
    }

    /** What sends requests. It is not closed by the library. */
    public AppCheckOptions withTransport(Transport transport) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.transport = transport;
        return changed;
    }

    /** Where tokens and the names of keys are kept. */
    public AppCheckOptions withStorage(ClientStorage storage) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.storage = storage;
        return changed;
    }

    /** What lifetimes are measured by. */
    public AppCheckOptions withClock(MonotonicClock clock) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.clock = clock;
        return changed;
    }

    /** What runs callbacks and listeners for which no other executor is named, such as that of an app's main thread. */
    public AppCheckOptions withCallbacks(Executor callbacks) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.callbacks = callbacks;
        return changed;
    }

    /**
     * Takes sentences for a developer: a debug token that was made, a key that was replaced, a storage that fails. They hold no
     * other secret. By default they are written to standard error, which Android's log has, too.
     */
    public AppCheckOptions withNotice(Consumer<String> notice) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.notice = notice;
        return changed;
    }

    /**
     * How long things may take.
     *
     * @param requestMillis for one request, the response included
     * @param fetchMillis for all that a provider does for one token
     */
    public AppCheckOptions withLimits(int requestMillis, long fetchMillis) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.requestLimitMillis = requestMillis;
        changed.fetchLimitMillis = fetchMillis;
        return changed;
    }

    /**
     * Lets plain {@code http} go to other hosts than this machine, where everybody on the way reads tokens: for an emulator, whose
     * host is {@code 10.0.2.2}, and for nothing else.
     */
    public AppCheckOptions allowingCleartext() {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.allowsCleartext = true;
        return changed;
    }

    AppCheckOptions completed(Transport transport, Executor callbacks) {
        AppCheckOptions changed = new AppCheckOptions(this);
        changed.transport = transport;
        changed.callbacks = callbacks;
        if (storage == null) changed.storage = new MemoryStorage();
        return changed;
    }
}
