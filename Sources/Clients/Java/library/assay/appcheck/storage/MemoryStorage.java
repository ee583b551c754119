package assay.appcheck.storage;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Keeps values until the program ends. */
public final class MemoryStorage implements ClientStorage {
    private final Map<String, byte[]> values = new ConcurrentHashMap<>();

    @Override
    public byte[] load(String key) {
        byte[] value = values.get(key);
        return value == null ? null : value.clone();
    }

    @Override
    public void save(String key, byte[] value) {
        values.put(key, value.clone());
    }

    @Override
    public void remove(String key) {
        values.remove(key);
    }
}
