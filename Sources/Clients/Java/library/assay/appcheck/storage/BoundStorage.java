package assay.appcheck.storage;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

import assay.appcheck.wire.Bytes;
import assay.appcheck.wire.Limits;
import assay.appcheck.wire.ShownText;

/**
 * The stored values of one app at one server, by their names.
 *
 * <p>A storage that fails costs a fetch or a new key, and never a token: what cannot be saved is remembered until the program
 * ends, and a notice says so once.
 */
public final class BoundStorage {
    private static final byte[] SEPARATOR = {0};

    private final String app;
    private final String server;
    private final ClientStorage storage;
    private final Consumer<String> notice;
    /** What could not be saved; null for what could not be removed. */
    private final Map<String, byte[]> unsaved = new HashMap<>();
    private boolean isReported;

    /**
     * @param app the resource name
     * @param server its URL
     * @param notice takes sentences for a developer
     */
    public BoundStorage(String app, String server, ClientStorage storage, Consumer<String> notice) {
        this.app = app;
        this.server = server;
        this.storage = storage;
        this.notice = notice;
    }

    /** 64 hexadecimal digits, which are another for each app, server and name. */
    public String key(String name) {
        return Bytes.hex(Bytes.sha256(
            Bytes.utf8(app), SEPARATOR, Bytes.utf8(server), SEPARATOR, Bytes.utf8(name), SEPARATOR));
    }

    /** A value by its name; null without one. */
    public synchronized byte[] load(String name) {
        if (unsaved.containsKey(name)) return unsaved.get(name);
        try {
            byte[] value = storage.load(key(name));
            return value == null || value.length > Limits.REPLY ? null : value;
        } catch (IOException | RuntimeException failure) {
            report(failure);
            return null;
        }
    }

    /** Keeps a value of at most 64 KB. */
    public synchronized void save(String name, byte[] value) {
        try {
            storage.save(key(name), value);
            unsaved.remove(name);
        } catch (IOException | RuntimeException failure) {
            unsaved.put(name, value);
            report(failure);
        }
    }

    /** Removes a value. */
    public synchronized void remove(String name) {
        try {
            storage.remove(key(name));
            unsaved.remove(name);
        } catch (IOException | RuntimeException failure) {
            unsaved.put(name, null);
            report(failure);
        }
    }

    private void report(Exception failure) {
        if (isReported) return;
        isReported = true;
        notice.accept("The storage fails, and what it should keep is lost when the program ends; a device then makes a new key. "
            + ShownText.of(failure.toString()));
    }
}
