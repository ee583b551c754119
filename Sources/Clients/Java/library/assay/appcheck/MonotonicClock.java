package assay.appcheck;

/**
 * What lifetimes are measured by: a clock that nobody sets, and that continues while the device sleeps.
 *
 * <p>The time of day has no part in it: it may be wrong by hours, or be changed.
 */
public interface MonotonicClock {
    /** Milliseconds since some moment that does not change. */
    long millis();

    /**
     * Which start of the device the milliseconds count from; null when it cannot be known.
     *
     * <p>Times of two starts cannot be compared: a stored token is used only after the start in which it was stored.
     */
    String boot();
}
