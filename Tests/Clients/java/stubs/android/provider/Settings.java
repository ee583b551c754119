package android.provider;

import android.content.ContentResolver;

/** What the library uses of Android's class; a test sets the count. */
public final class Settings {
    public static final class Global {
        public static final String BOOT_COUNT = "boot_count";
        public static int bootCount = 7;

        public static int getInt(ContentResolver resolver, String name, int def) {
            return name.equals(BOOT_COUNT) ? bootCount : def;
        }
    }
}
