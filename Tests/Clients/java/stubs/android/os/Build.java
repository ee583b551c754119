package android.os;

/** What the library uses of Android's class; a test sets the values. */
public class Build {
    public static class VERSION {
        public static int SDK_INT = 34;
        public static String SECURITY_PATCH = "2026-11-05";
    }
}
