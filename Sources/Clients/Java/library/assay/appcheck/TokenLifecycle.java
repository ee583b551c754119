package assay.appcheck;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * What is known of one app's tokens and what is to be done next: events in, effects out.
 *
 * <p>It reads no clock, sends nothing and waits for nothing. {@link TokenDriver} carries its effects out, in order.
 */
final class TokenLifecycle {
    /** What a fetch is for. */
    enum Purpose {
        /** The stored token, if there is one. */
        RESTORE,
        /** A session token for all that wait for one. */
        SESSION,
        /** A token for one use by one caller. */
        LIMITED_USE
    }

    /** A fetch that was begun. */
    static final class Fetch {
        final Purpose purpose;
        final long started;
        private final TokenCallback caller;

        private Fetch(Purpose purpose, long started, TokenCallback caller) {
            this.purpose = purpose;
            this.started = started;
            this.caller = caller;
        }
    }

    /** What is to be done. */
    interface Effects {
        /** Start a fetch, and report its end. */
        void begin(Fetch fetch);

        /** Cancel a fetch, whose end is of no interest any more. */
        void abandon(Fetch fetch);

        /** Answer a caller. One of both is null. */
        void answer(TokenCallback caller, AppCheckToken token, AppCheckException error);

        /** Tell all listeners. One of both is null. */
        void publish(AppCheckToken token, AppCheckException error);

        /** Wake at this moment and at no earlier one that was set before; null for never. */
        void setTimer(Long moment);
    }

    private final Effects effects;
    private final long fetchLimit;
    /** Whether storage was not looked into yet. */
    private boolean canRestore = true;
    private AppCheckToken token;
    private Fetch running;
    /** Callers that a token from memory or storage will do for, and those that want a new one. */
    private List<TokenCallback> callers = new ArrayList<>();
    private List<TokenCallback> forced = new ArrayList<>();
    private final Deque<TokenCallback> limitedUse = new ArrayDeque<>();
    private boolean isListened;
    private Long lastStart;
    private int failures;
    private Long retryAt;
    private long pausedUntil = Long.MIN_VALUE;
    private AppCheckException pauseError;
    private Long timer;

    /** @param fetchLimit how long a fetch may take, in milliseconds */
    TokenLifecycle(Effects effects, long fetchLimit) {
        this.effects = effects;
        this.fetchLimit = fetchLimit;
    }

    /** The token, while it may be given out; otherwise null. */
    AppCheckToken usable(long now) {
        return token != null && now < token.expires - TokenRules.MARGIN ? token : null;
    }

    /** A caller wants a token. */
    void want(TokenCallback caller, boolean isForced, long now) {
        AppCheckToken usable = usable(now);
        if (!isForced && usable != null) {
            effects.answer(caller, usable, null);
            return;
        }
        boolean joins = running != null && running.purpose == Purpose.SESSION;
        if (!joins && isPaused(now)) {
            effects.answer(caller, null, paused(now));
            return;
        }
        if (isCrowded(caller)) return;
        (isForced ? forced : callers).add(caller);
        proceed(now);
    }

    /** A caller wants a token for one use. */
    void wantLimitedUse(TokenCallback caller, long now) {
        if (isPaused(now)) {
            effects.answer(caller, null, paused(now));
            return;
        }
        if (isCrowded(caller)) return;
        limitedUse.add(caller);
        proceed(now);
    }

    /** Whether somebody listens; otherwise nothing is refreshed. */
    void listen(boolean isListened, long now) {
        this.isListened = isListened;
        proceed(now);
    }

    /** The moment of the timer has come. */
    void wake(long now, double jitter) {
        timer = null;
        if (running == null || now < running.started + fetchLimit) {
            proceed(now);
            return;
        }
        Fetch late = running;
        effects.abandon(late);
        finished(late, null, new AppCheckException(
            AppCheckException.Code.TIMED_OUT,
            "The provider did not finish within " + fetchLimit + " ms. The next call tries again."), now, jitter);
    }

    /**
     * A fetch has ended; one that was abandoned is ignored.
     *
     * @param fetched null for a failure, and for storage without a token
     * @param error null otherwise
     */
    void finished(Fetch fetch, AppCheckToken fetched, AppCheckException error, long now, double jitter) {
        if (fetch != running) return;
        running = null;
        if (fetch.purpose == Purpose.RESTORE) {
            canRestore = false;
            token = fetched;
            AppCheckToken usable = usable(now);
            if (usable != null) {
                answer(takeCallers(), usable, null);
                effects.publish(usable, null);
            }
        } else if (fetched != null && now < fetched.expires) {
            succeeded(fetch, fetched);
        } else {
            failed(fetch, error != null ? error : new AppCheckException(
                AppCheckException.Code.EXPIRED_ON_ARRIVAL,
                "The token had ended when it arrived: the device slept meanwhile, or the server's lifetimes are too short."),
                now, jitter);
        }
        proceed(now);
    }

    private boolean isCrowded(TokenCallback caller) {
        if (callers.size() + forced.size() + limitedUse.size() < TokenRules.CALLER_LIMIT) return false;
        effects.answer(caller, null, new AppCheckException(
            AppCheckException.Code.TOO_MANY_CALLERS, "Too many callers wait for a token. Share one token between requests."));
        return true;
    }

    private boolean isPaused(long now) {
        return now < pausedUntil;
    }

    private AppCheckException paused(long now) {
        return pauseError.withRetryAfter(pausedUntil - now);
    }

    private List<TokenCallback> takeCallers() {
        List<TokenCallback> taken = callers;
        callers = new ArrayList<>();
        return taken;
    }

    private void answerAll(AppCheckToken token, AppCheckException error) {
        answer(takeCallers(), token, error);
        List<TokenCallback> taken = forced;
        forced = new ArrayList<>();
        answer(taken, token, error);
    }

    private void answer(Iterable<TokenCallback> callers, AppCheckToken token, AppCheckException error) {
        for (TokenCallback caller : callers) effects.answer(caller, token, error);
    }

    private void succeeded(Fetch fetch, AppCheckToken fetched) {
        failures = 0;
        retryAt = null;
        pausedUntil = Long.MIN_VALUE;
        if (fetch.purpose == Purpose.LIMITED_USE) {
            effects.answer(fetch.caller, fetched, null);
            return;
        }
        token = fetched;
        answerAll(fetched, null);
        effects.publish(fetched, null);
    }

    private void failed(Fetch fetch, AppCheckException cause, long now, double jitter) {
        failures = Math.min(failures + 1, 64);
        retryAt = now + TokenRules.retry(failures);
        long pause = TokenRules.pause(cause, failures, jitter);
        pausedUntil = pause > 0 ? now + pause : Long.MIN_VALUE;
        pauseError = cause;
        // The message says how long to wait also to those that waited for this fetch.
        AppCheckException error = pause > 0 ? paused(now) : cause;
        if (fetch.purpose == Purpose.LIMITED_USE) {
            effects.answer(fetch.caller, null, error);
        } else {
            answerAll(null, error);
            effects.publish(null, error);
        }
        if (pause <= 0) return;
        // Nobody waits through a pause.
        answerAll(null, error);
        answer(limitedUse, null, error);
        limitedUse.clear();
    }

    /** Starts what can be started, and sets the timer. */
    private void proceed(long now) {
        if (running == null) begin(now);
        Long next = running != null ? (Long) (running.started + fetchLimit) : refreshTime(now);
        if (next == null ? timer == null : next.equals(timer)) return;
        timer = next;
        effects.setTimer(next);
    }

    private void begin(long now) {
        Long refresh = refreshTime(now);
        if (!callers.isEmpty() || !forced.isEmpty() || refresh != null && refresh <= now) {
            // All callers are answered by one fetch, and so tokens for one use wait for one of them at most.
            running = new Fetch(canRestore ? Purpose.RESTORE : Purpose.SESSION, now, null);
            if (!canRestore) lastStart = now;
        } else if (!limitedUse.isEmpty()) {
            running = new Fetch(Purpose.LIMITED_USE, now, limitedUse.remove());
        } else {
            return;
        }
        effects.begin(running);
    }

    /** When a token is to be fetched without a caller; null while nobody listens. */
    private Long refreshTime(long now) {
        if (!isListened) return null;
        long earliest = Long.MIN_VALUE;
        if (lastStart != null) earliest = lastStart + TokenRules.REFRESH_DISTANCE;
        if (retryAt != null) earliest = Math.max(earliest, retryAt);
        earliest = Math.max(earliest, pausedUntil);
        if (token != null) return Math.max(TokenRules.refresh(token), earliest);
        return earliest == Long.MIN_VALUE ? now : earliest;
    }
}
