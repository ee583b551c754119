package assay.appcheck.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A JSON value of a server (RFC 8259), as plain Java: {@code Map<String, Object>}, {@code List<Object>}, {@code String},
 * {@code Long} for whole numbers that fit, {@code Double}, {@code Boolean}, and {@link #NULL}.
 */
public final class Json {
    /** The value {@code null}. */
    public static final Object NULL = new Object() {
        @Override
        public String toString() {
            return "null";
        }
    };

    private Json() {}

    /**
     * Reads one JSON text.
     *
     * @param bytes UTF-8, at most {@link Limits#REPLY} bytes
     * @return null for any other text, for one of more than 16 levels, 2048 values or 256 members, and for an object that
     *     names a member twice, of which two readers could each see another value
     */
    public static Object read(byte[] bytes) {
        if (bytes.length > Limits.REPLY) return null;
        String text = new String(bytes, StandardCharsets.UTF_8);
        // Invalid UTF-8 is replaced by the decoder, and so it differs then.
        if (!Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) return null;
        return new JsonReader(text).read();
    }

    /** Reads an object; null for anything else. */
    public static Map<String, Object> readObject(byte[] bytes) {
        return object(read(bytes));
    }

    /** The value as an object; null for another one. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : null;
    }

    /** The value as a list; null for another one. */
    @SuppressWarnings("unchecked")
    public static List<Object> list(Object value) {
        return value instanceof List ? (List<Object>) value : null;
    }

    /** A member of an object that is text; null for another one, and without an object. */
    public static String text(Map<String, Object> object, String name) {
        Object value = object == null ? null : object.get(name);
        return value instanceof String ? (String) value : null;
    }

    /** A member that is a whole number; null for another one. */
    public static Long whole(Map<String, Object> object, String name) {
        Object value = object == null ? null : object.get(name);
        return value instanceof Long ? (Long) value : null;
    }

    /** A member that is Base 64; null for another one. */
    public static byte[] bytes(Map<String, Object> object, String name) {
        String text = text(object, name);
        return text == null ? null : Base64Text.decode(text);
    }
}
