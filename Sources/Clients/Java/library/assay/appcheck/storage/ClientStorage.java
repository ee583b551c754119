package assay.appcheck.storage;

import java.io.IOException;

/**
 * Where a client keeps its values: a file, preferences, or memory.
 *
 * <p>Values are small: at most 64 KB. A key is 64 hexadecimal digits, and may be the name of a file. Any thread may call, for
 * one key one at a time. What is lost is made again: a token by a fetch, a key by a new attestation.
 */
public interface ClientStorage {
    /** The value of a key; null without one. */
    byte[] load(String key) throws IOException;

    /** Keeps a value in place of the former one, whole or not at all. */
    void save(String key, byte[] value) throws IOException;

    /** Removes a value, if there is one. */
    void remove(String key) throws IOException;
}
