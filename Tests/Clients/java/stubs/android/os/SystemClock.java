package android.os;

/** What the library uses of Android's class. */
public final class SystemClock {
    private SystemClock() {}

    public static long elapsedRealtime() {
        return System.nanoTime() / 1_000_000;
    }
}
