package assay.appcheck;

/** An App Check token, and how long it lasts. Times are milliseconds of the {@link MonotonicClock}. */
public final class AppCheckToken {
    private final String text;
    final long requested;
    final long received;
    final long expires;
    private final boolean isLimitedUse;

    AppCheckToken(String text, long requested, long received, long expires, boolean isLimitedUse) {
        this.text = text;
        this.requested = requested;
        this.received = received;
        this.expires = expires;
        this.isLimitedUse = isLimitedUse;
    }

    /** The JWT, for the header {@code X-Firebase-AppCheck}. Keep it out of logs and URLs. */
    public String text() {
        return text;
    }

    /** When it ends, at the latest. */
    public long expiresAtMillis() {
        return expires;
    }

    /** Its whole lifetime, counted from before the request for it was sent. */
    public long lifetimeMillis() {
        return expires - requested;
    }

    /** Whether backends accept it once. */
    public boolean isLimitedUse() {
        return isLimitedUse;
    }

    /** Without the token itself, so that it gets into no log. */
    @Override
    public String toString() {
        return "AppCheckToken(" + text.length() + " characters, lasts " + lifetimeMillis() + " ms)";
    }
}
