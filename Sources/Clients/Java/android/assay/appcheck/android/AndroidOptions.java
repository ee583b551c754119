package assay.appcheck.android;

import android.content.Context;

import assay.appcheck.AppCheckOptions;

/** The options of an app on Android. */
public final class AndroidOptions {
    private static final String PREFERENCES = "assay-app-check";

    private AndroidOptions() {}

    /**
     * Preferences of the app as the storage, and the clock of the device.
     *
     * <p>Leave the preferences {@code assay-app-check} out of backups: on another device they name a key that is not there, which
     * costs one refused call.
     */
    public static AppCheckOptions of(Context context) {
        return AppCheckOptions.standard()
            .withStorage(new PreferencesStorage(context.getSharedPreferences(PREFERENCES, Context.MODE_PRIVATE)))
            .withClock(new AndroidClock(context));
    }
}
