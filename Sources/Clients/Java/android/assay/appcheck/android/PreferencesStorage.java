package assay.appcheck.android;

import java.io.IOException;

import android.content.SharedPreferences;

import assay.appcheck.storage.ClientStorage;
import assay.appcheck.wire.Base64Text;

/** Keeps values in preferences of the app, which no other app may read. */
public final class PreferencesStorage implements ClientStorage {
    private final SharedPreferences preferences;

    /** @param preferences a file of its own: {@code context.getSharedPreferences("assay-app-check", Context.MODE_PRIVATE)} */
    public PreferencesStorage(SharedPreferences preferences) {
        this.preferences = preferences;
    }

    @Override
    public byte[] load(String key) throws IOException {
        try {
            String text = preferences.getString(key, null);
            return text == null ? null : Base64Text.decode(text);
        } catch (ClassCastException other) {
            throw new IOException("the preferences have a value of another kind", other);
        }
    }

    @Override
    public void save(String key, byte[] value) throws IOException {
        // `commit` and not `apply`: a counter must be stored before it is used.
        if (!preferences.edit().putString(key, Base64Text.encode(value)).commit()) {
            throw new IOException("the preferences could not be written");
        }
    }

    @Override
    public void remove(String key) throws IOException {
        if (!preferences.edit().remove(key).commit()) throw new IOException("the preferences could not be written");
    }
}
