package assay.appcheck;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Carries out what a {@link TokenLifecycle} decides: starts fetches, answers callers, tells listeners, sets the timer.
 *
 * <p>One lock guards the decisions. What calls code of others happens after it is open again, in the order of the decisions.
 */
final class TokenDriver implements TokenLifecycle.Effects {
    /** Fetches that do not end hold a thread each; with so many of them no other one is begun. */
    private static final int WORKERS = 4;
    /** A timer of the system may stand still while the device sleeps. */
    private static final long LONGEST_SLEEP = 60_000;

    /** Whether this thread is one that answers others or fetches for them, and so must not wait for itself. */
    private static final ThreadLocal<Boolean> IS_NEEDED = new ThreadLocal<>();

    private final TokenFetcher fetcher;
    private final MonotonicClock clock;
    private final Consumer<String> notice;
    private final TokenLifecycle lifecycle;
    private final ThreadPoolExecutor workers;
    private final ScheduledThreadPoolExecutor timers;
    private final Map<TokenListener, SerialExecutor> listeners = new ConcurrentHashMap<>();
    private final Map<TokenLifecycle.Fetch, Future<?>> fetches = new ConcurrentHashMap<>();
    /** What is to be done without the lock. */
    private final Deque<Runnable> deliveries = new ArrayDeque<>();
    private boolean isDelivering;
    private boolean isClosed;
    private Future<?> timer;
    private Long wakeAt;

    TokenDriver(TokenFetcher fetcher, AppCheckOptions options) {
        this.fetcher = fetcher;
        clock = options.clock;
        notice = options.notice;
        lifecycle = new TokenLifecycle(this, options.fetchLimitMillis);
        workers = new ThreadPoolExecutor(
            0, WORKERS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), daemons("assay-app-check-fetch"));
        timers = new ScheduledThreadPoolExecutor(1, daemons("assay-app-check-timer"));
        timers.setRemoveOnCancelPolicy(true);
        timers.setKeepAliveTime(1, TimeUnit.MINUTES);
        timers.allowCoreThreadTimeOut(true);
    }

    private static ThreadFactory daemons(String name) {
        return work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    static boolean isNeededThread() {
        return IS_NEEDED.get() != null;
    }

    AppCheckToken usable() {
        long now = clock.millis();
        synchronized (this) {
            return lifecycle.usable(now);
        }
    }

    void want(TokenCallback caller, boolean isForced) {
        decide(caller, () -> lifecycle.want(caller, isForced, clock.millis()));
    }

    void wantLimitedUse(TokenCallback caller) {
        decide(caller, () -> lifecycle.wantLimitedUse(caller, clock.millis()));
    }

    void listen(Executor executor, TokenListener listener) {
        SerialExecutor serial = new SerialExecutor(executor);
        decide(null, () -> {
            listeners.put(listener, serial);
            AppCheckToken token = lifecycle.usable(clock.millis());
            if (token != null) tell(listener, serial, token, null);
            lifecycle.listen(true, clock.millis());
        });
    }

    void unlisten(TokenListener listener) {
        decide(null, () -> {
            listeners.remove(listener);
            lifecycle.listen(!listeners.isEmpty(), clock.millis());
        });
    }

    void close() {
        synchronized (this) {
            isClosed = true;
            listeners.clear();
            timers.shutdownNow();
        }
        AppCheckException error = closed();
        for (TokenLifecycle.Fetch fetch : fetches.keySet()) abandonWith(fetch, error);
        workers.shutdownNow();
    }

    private void abandonWith(TokenLifecycle.Fetch fetch, AppCheckException error) {
        perform(() -> {
            abandon(fetch);
            lifecycle.finished(fetch, null, error, clock.millis(), 0);
        });
    }

    static AppCheckException closed() {
        return new AppCheckException(AppCheckException.Code.CLOSED, "The AssayAppCheck is closed. Keep one for the life of the app.");
    }

    // Decisions

    /** @param caller is told when this is closed; null without one */
    private void decide(TokenCallback caller, Runnable decision) {
        perform(() -> {
            if (!isClosed) decision.run();
            else if (caller != null) answer(caller, null, closed());
        });
    }

    private void perform(Runnable decision) {
        synchronized (this) {
            decision.run();
            if (isDelivering) return;
            isDelivering = true;
        }
        while (true) {
            Runnable delivery;
            synchronized (this) {
                delivery = deliveries.poll();
                if (delivery == null) {
                    isDelivering = false;
                    return;
                }
            }
            Boolean wasNeeded = IS_NEEDED.get();
            IS_NEEDED.set(true);
            try {
                delivery.run();
            } catch (RuntimeException failure) {
                notice.accept("A callback or its executor failed: " + failure.getClass().getName());
            } finally {
                if (wasNeeded == null) IS_NEEDED.remove();
            }
        }
    }

    // Effects, which the lock is held for

    @Override
    public void begin(TokenLifecycle.Fetch fetch) {
        try {
            if (isClosed) throw new RejectedExecutionException();
            fetches.put(fetch, workers.submit(() -> run(fetch)));
        } catch (RejectedExecutionException rejected) {
            deliveries.add(() -> finished(fetch, null, isClosed ? closed() : new AppCheckException(
                AppCheckException.Code.TIMED_OUT, "The provider does not finish, whatever it is asked. Look for what it waits for.")));
        }
    }

    @Override
    public void abandon(TokenLifecycle.Fetch fetch) {
        Future<?> work = fetches.remove(fetch);
        if (work != null) work.cancel(true);
    }

    @Override
    public void answer(TokenCallback caller, AppCheckToken token, AppCheckException error) {
        deliveries.add(() -> {
            if (token != null) caller.onToken(token);
            else caller.onFailure(error);
        });
    }

    @Override
    public void publish(AppCheckToken token, AppCheckException error) {
        listeners.forEach((listener, executor) -> tell(listener, executor, token, error));
    }

    private void tell(TokenListener listener, SerialExecutor executor, AppCheckToken token, AppCheckException error) {
        deliveries.add(() -> executor.execute(() -> {
            if (token != null) listener.onTokenChanged(token);
            else listener.onFailure(error);
        }));
    }

    @Override
    public void setTimer(Long moment) {
        wakeAt = moment;
        if (timer != null) timer.cancel(false);
        timer = null;
        if (moment == null || isClosed) return;
        long wait = Math.min(Math.max(moment - clock.millis(), 0), LONGEST_SLEEP);
        timer = timers.schedule(this::wake, wait, TimeUnit.MILLISECONDS);
    }

    private void wake() {
        decide(null, () -> {
            if (wakeAt == null) return;
            if (clock.millis() < wakeAt) setTimer(wakeAt);
            else lifecycle.wake(clock.millis(), jitter());
        });
    }

    private void run(TokenLifecycle.Fetch fetch) {
        AppCheckToken token = null;
        AppCheckException error = null;
        IS_NEEDED.set(true);
        try {
            token = fetch.purpose == TokenLifecycle.Purpose.RESTORE ? fetcher.restored()
                : fetcher.fetch(fetch.purpose == TokenLifecycle.Purpose.LIMITED_USE, fetch.started);
        } catch (AppCheckException failure) {
            error = failure;
        } catch (RuntimeException | Error failure) {
            error = new AppCheckException(AppCheckException.Code.PROVIDER_FAILED, "The library or its storage failed.", failure);
        } finally {
            IS_NEEDED.remove();
        }
        finished(fetch, token, error);
    }

    private void finished(TokenLifecycle.Fetch fetch, AppCheckToken token, AppCheckException error) {
        perform(() -> {
            fetches.remove(fetch);
            lifecycle.finished(fetch, token, error, clock.millis(), jitter());
        });
    }

    private static double jitter() {
        return ThreadLocalRandom.current().nextDouble();
    }
}
