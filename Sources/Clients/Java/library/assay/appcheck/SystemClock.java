package assay.appcheck;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The clock of a Java program: {@code /proc/uptime} on Linux, otherwise {@code System.nanoTime()}, which stands still while
 * some systems sleep. Apps on Android use {@code assay.appcheck.android.AndroidClock}.
 */
public final class SystemClock implements MonotonicClock {
    private static final File UPTIME = new File("/proc/uptime");
    private static final File BOOT = new File("/proc/sys/kernel/random/boot_id");

    private final String boot;

    /** Makes the clock. */
    public SystemClock() {
        String identifier = read(BOOT);
        boot = uptime() == null || identifier == null || identifier.length() < 32 ? null : identifier.trim();
    }

    @Override
    public long millis() {
        // Where it can be read once it can be read always; two clocks would not be comparable.
        Long uptime = boot == null ? null : uptime();
        return uptime == null ? System.nanoTime() / 1_000_000 : uptime;
    }

    @Override
    public String boot() {
        return boot;
    }

    /** Seconds with two places, a space, and what does not matter here. */
    private static Long uptime() {
        String text = read(UPTIME);
        int end = text == null ? -1 : text.indexOf(' ');
        try {
            return end < 0 ? null : Math.round(Double.parseDouble(text.substring(0, end)) * 1000);
        } catch (NumberFormatException other) {
            return null;
        }
    }

    private static String read(File file) {
        byte[] bytes = new byte[128];
        try (InputStream input = new FileInputStream(file)) {
            int count = input.read(bytes);
            return count < 0 ? null : new String(bytes, 0, count, StandardCharsets.US_ASCII);
        } catch (IOException | SecurityException unreadable) {
            return null;
        }
    }
}
