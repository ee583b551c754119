package assay.appcheck.provider;

/** A token as a provider returns it; the library checks whose it is. */
public final class IssuedToken {
    private final String text;
    private final long lifetimeMillis;
    private final Long requestedAtMillis;

    /** Makes a token from the reply of a server of the app's own, whose lifetime counts from when the provider was called. */
    public IssuedToken(String text, long lifetimeMillis) {
        this(text, lifetimeMillis, null);
    }

    IssuedToken(String text, long lifetimeMillis, Long requestedAtMillis) {
        this.text = text;
        this.lifetimeMillis = lifetimeMillis;
        this.requestedAtMillis = requestedAtMillis;
    }

    /** The JWT. */
    public String text() {
        return text;
    }

    /** How long it lasts. */
    public long lifetimeMillis() {
        return lifetimeMillis;
    }

    /** When it was asked for, by the clock of the library; null for when the provider was called. */
    public Long requestedAtMillis() {
        return requestedAtMillis;
    }

    /** Without the token itself, so that it gets into no log. */
    @Override
    public String toString() {
        return "IssuedToken(" + text.length() + " characters, lasts " + lifetimeMillis + " ms)";
    }
}
