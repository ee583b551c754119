package assay.appcheck.android;

import android.content.ContentResolver;
import android.content.Context;
import android.os.SystemClock;
import android.provider.Settings;

import assay.appcheck.MonotonicClock;

/** The clock of an Android device, which continues while it sleeps, and the number of its starts. */
public final class AndroidClock implements MonotonicClock {
    private final String boot;

    /** Makes the clock. */
    public AndroidClock(Context context) {
        ContentResolver resolver = context.getContentResolver();
        int count = Settings.Global.getInt(resolver, Settings.Global.BOOT_COUNT, -1);
        boot = count < 0 ? null : "boot-" + count;
    }

    @Override
    public long millis() {
        return SystemClock.elapsedRealtime();
    }

    @Override
    public String boot() {
        return boot;
    }
}
