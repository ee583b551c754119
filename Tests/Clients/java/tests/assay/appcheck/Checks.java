package assay.appcheck;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Plain assertions. */
final class Checks {
    private Checks() {}

    /** What may fail. */
    interface Body {
        void run() throws Exception;
    }

    /** What may hold later. */
    interface Condition {
        boolean holds() throws Exception;
    }

    static void that(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    static void equal(Object found, Object expected) {
        boolean isEqual = found instanceof byte[] && expected instanceof byte[]
            ? Arrays.equals((byte[]) found, (byte[]) expected) : Objects.equals(found, expected);
        that(isEqual, "found " + found + ", expected " + expected);
    }

    /** The error that a body fails with. */
    static AppCheckException failure(Body body) {
        try {
            body.run();
        } catch (AppCheckException error) {
            return error;
        } catch (ExecutionException wrapped) {
            if (wrapped.getCause() instanceof AppCheckException) return (AppCheckException) wrapped.getCause();
            throw new AssertionError(wrapped);
        } catch (Exception other) {
            throw new AssertionError(other);
        }
        throw new AssertionError("nothing failed");
    }

    static AppCheckException failure(AppCheckException.Code code, Body body) {
        AppCheckException error = failure(body);
        that(error.code() == code, "expected " + code + ", found " + error);
        return error;
    }

    static void throwsArgument(Body body) {
        try {
            body.run();
        } catch (IllegalArgumentException expected) {
            return;
        } catch (Exception other) {
            throw new AssertionError(other);
        }
        throw new AssertionError("nothing was refused");
    }

    static void eventually(Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.holds()) {
            that(System.nanoTime() < end, "it does not hold within 20 seconds");
            Thread.sleep(5);
        }
    }
}
