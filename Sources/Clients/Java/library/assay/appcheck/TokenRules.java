package assay.appcheck;

/** When tokens are renewed, and how long nothing is sent after a failure. Times are milliseconds. */
final class TokenRules {
    /** A token with no more left than this is not given out again. */
    static final long MARGIN = 300_000;
    /** What half of a token's lifetime is extended by before it is refreshed. */
    private static final long REFRESH_DELAY = 300_000;
    /** The least time from the start of one fetch to the start of an automatic one. */
    static final long REFRESH_DISTANCE = 60_000;
    /** The longest wait for an automatic retry. */
    private static final long LONGEST_RETRY = 960_000;
    /** The longest pause after a failure, whatever a server asks for. */
    private static final long LONGEST_PAUSE = 3_600_000;
    /** The most callers that wait. */
    static final int CALLER_LIMIT = 1000;

    private TokenRules() {}

    /** When a token is refreshed: half of its life and five minutes after it was asked for, and before it is too old. */
    static long refresh(AppCheckToken token) {
        return Math.min(token.requested + token.lifetimeMillis() / 2 + REFRESH_DELAY, token.expires - MARGIN);
    }

    /** How long to wait before an automatic retry. */
    static long retry(int failures) {
        return Math.min(REFRESH_DISTANCE << Math.min(failures - 1, 20), LONGEST_RETRY);
    }

    /**
     * How long nothing is sent after a failure; 0 when the next call may be sent at once.
     *
     * @param failures how many came in a row
     * @param jitter 0 to 1: up to a half is added, so that not all devices come back together
     */
    static long pause(AppCheckException error, int failures, double jitter) {
        if (error.retryAfterMillis() != null) {
            long bounded = Math.min(Math.max(error.retryAfterMillis(), 1000), LONGEST_PAUSE);
            return bounded + (long) (Math.min(bounded, 60_000) * jitter / 2);
        }
        if (!error.code().growsPause) return 0;
        long bounded = Math.min(1000L << Math.min(failures, 20), LONGEST_PAUSE);
        return Math.min(bounded + (long) (bounded * jitter / 2), LONGEST_PAUSE);
    }
}
