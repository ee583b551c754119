package assay.appcheck;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
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
        /** When it is given up: after its limit, or when the one caller that it is for has waited for as long. */
        private final long until;
        private final TokenCallback caller;

        private Fetch(Purpose purpose, long started, long until, TokenCallback caller) {
            this.purpose = purpose;
            this.started = started;
            this.until = until;
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
    private List<Waiting> callers = new ArrayList<>();
    private List<Waiting> forced = new ArrayList<>();
    private final Deque<Waiting> limitedUse = new ArrayDeque<>();
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
        (isForced ? forced : callers).add(new Waiting(caller, now + fetchLimit));
        proceed(now);
    }

    /** A caller wants a token for one use. */
    void wantLimitedUse(TokenCallback caller, long now) {
        if (isPaused(now)) {
            effects.answer(caller, null, paused(now));
            return;
        }
        if (isCrowded(caller)) return;
        limitedUse.add(new Waiting(caller, now + fetchLimit));
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
        Fetch ended = running != null && now >= running.until ? running : null;
        answerLate(limitedUse, now);
        // Those that wait for the fetch that ends are told so.
        if (ended == null || ended.purpose != Purpose.SESSION) {
            answerLate(callers, now);
            answerLate(forced, now);
        }
        if (ended != null) giveUp(ended, now, jitter);
        proceed(now);
    }

    private void giveUp(Fetch fetch, long now, double jitter) {
        effects.abandon(fetch);
        if (fetch.purpose == Purpose.LIMITED_USE && now < fetch.started + fetchLimit) {
            // It says nothing of the server that the caller had waited for others.
            running = null;
            effects.answer(fetch.caller, null, late());
            return;
        }
        finished(fetch, null, new AppCheckException(
            AppCheckException.Code.TIMED_OUT,
            "The provider did not finish within " + fetchLimit + " ms. The next call tries again."), now, jitter);
    }

    private AppCheckException late() {
        return new AppCheckException(
            AppCheckException.Code.TIMED_OUT,
            "No token came within " + fetchLimit + " ms, since others were waited for before. The next call tries again.");
    }

    /** Answers callers that have waited for long enough. */
    private void answerLate(Collection<Waiting> waiting, long now) {
        List<Waiting> late = new ArrayList<>();
        for (Waiting one : waiting) if (one.until <= now) late.add(one);
        waiting.removeAll(late);
        for (Waiting one : late) effects.answer(one.caller, null, late());
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

    private List<Waiting> takeCallers() {
        List<Waiting> taken = callers;
        callers = new ArrayList<>();
        return taken;
    }

    private void answerAll(AppCheckToken token, AppCheckException error) {
        answer(takeCallers(), token, error);
        List<Waiting> taken = forced;
        forced = new ArrayList<>();
        answer(taken, token, error);
    }

    private void answer(Iterable<Waiting> callers, AppCheckToken token, AppCheckException error) {
        for (Waiting one : callers) effects.answer(one.caller, token, error);
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
        Long next = running != null ? (Long) nextEnd() : refreshTime(now);
        if (next == null ? timer == null : next.equals(timer)) return;
        timer = next;
        effects.setTimer(next);
    }

    /** When the fetch that runs, or the first caller, has had its time. */
    private long nextEnd() {
        return Math.min(Math.min(running.until, Waiting.end(callers)), Math.min(Waiting.end(forced), Waiting.end(limitedUse)));
    }

    private void begin(long now) {
        Long refresh = refreshTime(now);
        if (!callers.isEmpty() || !forced.isEmpty() || refresh != null && refresh <= now) {
            // All callers are answered by one fetch, and so tokens for one use wait for one of them at most.
            running = new Fetch(canRestore ? Purpose.RESTORE : Purpose.SESSION, now, now + fetchLimit, null);
            if (!canRestore) lastStart = now;
        } else if (!limitedUse.isEmpty()) {
            Waiting next = limitedUse.remove();
            running = new Fetch(Purpose.LIMITED_USE, now, next.until, next.caller);
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
