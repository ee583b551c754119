package assay.appcheck;

/** A monotonic clock that stands still until a test moves it. */
final class TestClock implements MonotonicClock {
    volatile long millis = 1_000_000;
    volatile String boot = "one";

    @Override
    public long millis() {
        return millis;
    }

    @Override
    public String boot() {
        return boot;
    }
}
